/** Processor time of {@link workOut} on an idle core of 2.1 GHz, on which bounds in milliseconds are chosen. */
const USUAL_MS = 150;
const STATES = 1 << 20;
const STEPS = 4_000_000;

/** No test passes for being run on a machine that is slower still. */
const MOST = 3;

let table: Uint32Array | undefined;

/**
 * How many times the usual processor time this machine takes at this moment for the same work: 1 to {@link MOST}. Others on the host share
 * its caches and its memory, so that a program's own processor time doubles from one minute to the next.
 */
export function slowdown(): number {
  table ??= makeTable();
  const before = process.cpuUsage();
  workOut(table);
  const { user, system } = process.cpuUsage(before);
  return Math.min(MOST, Math.max(1, (user + system) / 1000 / USUAL_MS));
}

/** Walks through states as a search of a text does: each step reads where the step before it leads. */
function workOut(states: Uint32Array): number {
  let state = 0;
  for (let step = 0; step < STEPS; step += 1) state = (states[(state + (step & 63)) % STATES] ?? 0) ^ step;
  return state;
}

function makeTable(): Uint32Array {
  const states = new Uint32Array(STATES);
  let value = 1;
  for (let at = 0; at < STATES; at += 1) {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0;
    states[at] = value % STATES;
  }
  return states;
}
