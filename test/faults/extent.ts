/**
 * How far the fault tests go: `FORMSVC_FAULTS` is unset for the short form of every run, `short40` for forty rounds of
 * kill -9 and ten times the short form of the rest, `long` for the form whose table is in docs/lab/faults.md.
 */
export interface Extent {
  readonly killRounds: number;
  readonly restarts: number;
  /** Requests of the fuzzer, several on each connection. */
  readonly hostileRequests: number;
  /** Cuts of the write-ahead log at random bytes, beside one at every frame. */
  readonly randomCuts: number;
}

const EXTENTS: Readonly<Record<string, Extent>> = {
  short: { killRounds: 5, restarts: 4, hostileRequests: 4000, randomCuts: 150 },
  short40: { killRounds: 40, restarts: 20, hostileRequests: 40_000, randomCuts: 1000 },
  long: { killRounds: 200, restarts: 60, hostileRequests: 1_000_000, randomCuts: 10_000 },
};

const chosen = process.env["FORMSVC_FAULTS"] ?? "short";
const known = EXTENTS[chosen];
if (known === undefined)
  throw new Error(`FORMSVC_FAULTS=${chosen}: expected ${Object.keys(EXTENTS).join(", ")}`);

export const extent: Extent = known;
export const isShort = chosen === "short";
/** No form takes longer; a test that hangs ends here. */
export const PATIENCE_MS = isShort ? 120_000 : 7_200_000;

/** A line of the long run's table; says nothing in the short form. */
export function report(what: string, figures: Readonly<Record<string, number | string>>): void {
  if (isShort) return;
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  process.stderr.write(`RESULT ${what}: ${shown.join(", ")}\n`);
}

/** A tool of the system that a test needs is missing: said aloud, so that nobody takes the gap for a pass. */
export function sayMissing(what: string, howToGet: string): void {
  process.stderr.write(`SKIPPED: ${what}; ${howToGet}\n`);
}
