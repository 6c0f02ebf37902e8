import { appendFileSync, openSync, readSync } from "node:fs";

/**
 * This module is loaded before a server. It records how long the server's event loop stood still, in milliseconds, without the time in
 * which the thread waited for a processor that other processes used. At each SIGWINCH, it writes what it has recorded since the last one,
 * as a line of JSON, to the file in `STANDSTILLS`.
 */
const INTERVAL_MS = 1;
/** A shorter time is not a standstill. */
const LEAST_MS = 2;
const schedule = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "r");
const buffer = Buffer.alloc(64);

/** The time that the thread has waited for a processor so far, in milliseconds. */
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
