import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Output, screenRows } from "./output.ts";

/** Shows the text with `less` if it is installed: it ends by itself if the text fits, and leaves the text on the screen. */
const DEFAULT_PAGER =
  "if command -v less > /dev/null 2>&1; then LESS=${LESS-FRX} exec less; else exec cat; fi";

/** The exit codes by which a shell says that it could not start a program. */
const NOT_STARTED: ReadonlySet<number | null> = new Set([126, 127]);

/** Shows a long text: on a terminal with $PAGER, elsewhere as it is. */
export async function showText(output: Output, text: string): Promise<void> {
  const rows = screenRows();
  const isLong = rows !== null && text.split("\n").length > rows;
  const pager = process.env["PAGER"] ?? DEFAULT_PAGER;
  const isShown = isLong && pager !== "" && process.platform !== "win32" && (await runPager(pager, text));
  if (!isShown) output.text(text);
}

/** @returns whether the pager was started; its own exit code does not matter */
async function runPager(pager: string, text: string): Promise<boolean> {
  // Ctrl-C belongs to the pager while it runs. If this program ended, it would leave the pager alone with the terminal.
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    // PAGER may hold arguments, as in "less -S", so a shell splits it.
    const child = spawn("sh", ["-c", pager], { stdio: ["pipe", "inherit", "inherit"] });
    // A pager that is left before the end reads no more.
    child.stdin.on("error", ignore);
    child.stdin.end(text);
    const [code] = (await once(child, "close")) as [number | null];
    return !NOT_STARTED.has(code);
  } catch {
    return false;
  } finally {
    process.off("SIGINT", ignore);
  }
}
