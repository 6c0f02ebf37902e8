import { type ChildProcess, spawn } from "node:child_process";
import { isSea } from "node:sea";

/** The largest number of characters of a child's standard error that are kept. */
const MAX_COMPLAINT = 2000;

export interface ChildRun {
  /** Rejects with the child's standard error if it does not exit with code 0. */
  readonly done: Promise<void>;
  stop(): void;
}

/** Runs this program again in a process of its own, for work that would hold up everything else in this one. */
export function runSelf(args: readonly string[]): ChildRun {
  const script = isSea() ? [] : [process.argv[1] ?? ""];
  const child = spawn(process.execPath, [...script, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  return { done: finished(child), stop: () => void child.kill() };
}

/** The error in one line and without a stack, for the log. */
function sentenceOf(complaint: string): string {
  return complaint
    .split("\n")
    .map((line) => line.replace(/^formsvc: /, ""))
    .filter((line) => line !== "" && !/^\s+at /.test(line))
    .join("; ");
}

async function finished(child: ChildProcess): Promise<void> {
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, MAX_COMPLAINT);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  if (code !== 0) throw new Error(sentenceOf(complaint) || `ended with ${String(code ?? child.signalCode)}`);
}
