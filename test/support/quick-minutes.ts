import { MINUTE_MS } from "../../src/foundation/time-units.ts";

/** Loaded before the program by Node's `--import`: what the program does each minute, it does four times a second. */
const QUICK_MS = 250;

const { setInterval: repeat } = globalThis;
globalThis.setInterval = ((work: () => void, ms: number) =>
  repeat(work, ms === MINUTE_MS ? QUICK_MS : ms)) as typeof setInterval;
