import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const tsc = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");

/**
 * What the compiler says of the project in a folder, by file; a file without errors is not among them. One run takes as long for five
 * files as for one, so what is right and what is wrong can be files beside each other.
 */
export function typeErrors(folder: string): Readonly<Record<string, string>> {
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", "."], { cwd: folder, encoding: "utf8" });
  const errors: Record<string, string> = {};
  let file = "";
  for (const line of stdout.split("\n").filter(Boolean)) {
    file = /^([^\s(][^(]*)\(\d+,\d+\): error /.exec(line)?.[1] ?? file;
    errors[file] = `${errors[file] ?? ""}${line}\n`;
  }
  if (status !== 0 && stdout === "") throw new Error(`the compiler ended with ${status}`);
  return errors;
}
