import { spawn, spawnSync } from "node:child_process";
import type { OperatorMachine } from "./operator-machine.ts";
import { collect, compileCache, programFor, type Ran } from "./program.ts";
import { until } from "./until.ts";

const SYSTEM_PATH = { PATH: "/usr/bin:/bin" };
/** Whether a line can run in a terminal, which needs the program `script`. */
export const hasScript = spawnSync("script", ["--version"]).status === 0;
if (!hasScript)
  process.stderr.write("SKIPPED: no program `script` here, so nothing is tested on a terminal\n");

/** The program's words in a line of shell. They do not depend on PATH. */
export const FORMSVC = programFor([])
  .map((word) => `'${word}'`)
  .join(" ");

/** Runs a line of shell with a terminal as all three streams. Types `typed` when `prompt` is shown. */
export async function onTerminal(
  machine: OperatorMachine,
  line: string,
  typed = "",
  prompt = "[y/N]",
): Promise<Ran> {
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: machine.folder,
    env: { ...compileCache(), ...SYSTEM_PATH, SHELL: "/bin/sh", TERM: "xterm" },
  });
  const ended = collect(child);
  let shown = "";
  child.stdout.on("data", (text: string) => (shown += text));
  if (typed !== "") {
    await until(() => shown.includes(prompt));
    child.stdin.write(typed);
  }
  const ran = await ended;
  child.stdin.end();
  return ran;
}

/** Runs lines of Bash in which `formsvc` is the program. */
export function inShell(machine: OperatorMachine, lines: string): Promise<Ran> {
  const script = `formsvc() { ${FORMSVC} "$@"; }\n${lines}`;
  const child = spawn("bash", ["--norc", "--noprofile", "-c", script], {
    cwd: machine.folder,
    env: { ...compileCache(), ...SYSTEM_PATH },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return collect(child);
}
