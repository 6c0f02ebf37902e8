import { appendFileSync, openSync, readSync } from "node:fs";

/**
 * Loaded before a server: notes how long its event loop stood still, in milliseconds, without the time in which its thread waited for a
 * processor that others had. With each SIGWINCH what was noted since is written as a line of JSON to the file that `STANDSTILLS` names.
 */
const INTERVAL_MS = 1;
/** Anything shorter is no standstill. */
const LEAST_MS = 2;
const schedule = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "r");
const buffer = Buffer.alloc(64);

/** Time that the thread has waited for a processor so far. */
function waitedMs(): number {
  const length = readSync(schedule, buffer, 0, buffer.length, 0);
  return Number(buffer.toString("latin1", 0, length).split(" ")[1]) / 1e6;
}

let noted: number[] = [];
let before = performance.now() - waitedMs();
setInterval(() => {
  const now = performance.now() - waitedMs();
  if (now - before - INTERVAL_MS >= LEAST_MS) noted.push(now - before - INTERVAL_MS);
  before = now;
}, INTERVAL_MS).unref();
process.on("SIGWINCH", () => {
  appendFileSync(process.env["STANDSTILLS"] ?? "", `${JSON.stringify(noted)}\n`);
  noted = [];
});
