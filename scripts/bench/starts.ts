import { spawnSync } from "node:child_process";
import { type Figure, renderFigures } from "./figures.ts";
import { executable, median } from "./processes.ts";

/** Measures how long `formsvc version` takes, compared with an empty script of Node. Usage: node scripts/bench/starts.ts [ROUNDS] */
if (import.meta.main) {
  const [rounds = 15] = process.argv.slice(2).map(Number);
  process.stdout.write(renderFigures(compareVersion(rounds)));
}

export function compareVersion(rounds: number): Figure[] {
  const time = (program: string, ...args: string[]): number => {
    const startedAt = performance.now();
    const { status } = spawnSync(program, args);
    if (status !== 0) throw new Error(`${program} ended with ${status}`);
    return performance.now() - startedAt;
  };
  const ratios = Array.from({ length: rounds }, () => {
    const node = time(process.execPath, "-e", "0");
    return time(executable, "version") / node;
  });
  return [
    { figure: "`formsvc version` over `node -e 0`", value: median(ratios), unit: "", bound: { atMost: 3 } },
  ];
}
