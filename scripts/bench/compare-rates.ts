import { median } from "./processes.ts";
import type { Rate } from "./rate.ts";

interface Compared {
  /** The headings of the columns, without the one for the ratio of the rates. */
  readonly columns: readonly [varied: string, one: string, other: string, ratio: string, processor: string];
  /** The value that differs from row to row, such as the number of requests at once. */
  readonly values: readonly number[];
  readonly rounds: number;
  readonly one: (value: number) => Promise<Rate>;
  readonly other: (value: number) => Promise<Rate>;
  /** Which processor time the last column divides by the other. */
  readonly processor: "one over other" | "other over one";
}

/** Measures two rates in interleaved rounds, and prints them as a table. Each ratio is that of one round. */
export async function compareRates({
  columns,
  values,
  rounds,
  one,
  other,
  processor,
}: Compared): Promise<void> {
  process.stdout.write(`| ${columns.join(" | ")} |\n|---|---|---|---|---|\n`);
  for (const value of values) {
    const results: { one: Rate; other: Rate }[] = [];
    for (let round = 0; round < rounds; round += 1)
      results.push({ one: await one(value), other: await other(value) });
    const pick = (read: (round: { one: Rate; other: Rate }) => number): number => median(results.map(read));
    const ratio = pick((round) => round.one.processorUs / round.other.processorUs);
    const inverse = pick((round) => round.other.processorUs / round.one.processorUs);
    const cells = [
      value,
      Math.round(pick((round) => round.one.perSecond)),
      Math.round(pick((round) => round.other.perSecond)),
      pick((round) => round.other.perSecond / round.one.perSecond).toFixed(2),
      (processor === "one over other" ? ratio : inverse).toFixed(2),
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}
