import { MINUTE_MS } from "../../src/foundation/time-units.ts";

/** Node's `--import` loads this module before the program. What the program does each minute, it then does each 250 ms. */
const QUICK_MS = 250;

const { setInterval: repeat } = globalThis;
globalThis.setInterval = ((work: () => void, ms: number) =>
  repeat(work, ms === MINUTE_MS ? QUICK_MS : ms)) as typeof setInterval;
