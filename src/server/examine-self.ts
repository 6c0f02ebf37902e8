import { SECRET_LISTS } from "../app/features.ts";
import type { ServiceParts } from "../app/parts.ts";
import { loadConfig } from "../config/load-config.ts";
import { examine, failedCheck } from "../doctor/examine.ts";
import type { Background } from "../foundation/background.ts";
import type { Finding } from "../foundation/finding.ts";

/** Time for which a result is given again: the checks read folders and the state of the disk. */
const KEPT_MS = 10_000;
/** Time for which a result is given to who does not wait for the next one. */
const RECENT_MS = 300_000;

/** `now` is some seconds old at most; `lately` some minutes, so that hardly anybody waits. */
export type FindingsAge = "now" | "lately";

/** What `formsvc doctor` finds about this server's database and machine, without reading the whole file. */
export type ExamineSelf = (age: FindingsAge) => Promise<readonly Finding[]>;

interface Look {
  readonly at: number;
  readonly findings: Promise<readonly Finding[]>;
}

export function createSelfExamination(
  { db, config, clock }: Omit<ServiceParts, "metrics">,
  configFile: string | null,
  background: Background,
): ExamineSelf {
  let newest: Look | null = null;
  let finished: Look | null = null;
  const isYounger = (look: Look | null, ms: number): look is Look =>
    look !== null && Math.abs(clock.now() - look.at) < ms;

  const look = async (now: number): Promise<readonly Finding[]> => {
    try {
      const loaded = loadConfig(configFile);
      return await examine({ db, config, loaded, secretLists: SECRET_LISTS, now }, false);
    } catch (error) {
      return [failedCheck(error)];
    }
  };
  const begin = (): Look => {
    const now = clock.now();
    const begun = { at: now, findings: look(now) };
    background.add(begun.findings.then(() => (finished = begun)));
    return begun;
  };
  return (age) => {
    if (!isYounger(newest, KEPT_MS)) newest = begin();
    return age === "lately" && isYounger(finished, RECENT_MS) ? finished.findings : newest.findings;
  };
}
