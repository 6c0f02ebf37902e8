import { SECRET_LISTS } from "../app/features.ts";
import type { ServiceParts } from "../app/parts.ts";
import { loadConfig } from "../config/load-config.ts";
import { examine, unexamined } from "../doctor/examine.ts";
import type { Background } from "../foundation/background.ts";
import type { Finding } from "../foundation/finding.ts";

/** A result is given again for this time, because the checks read folders and the state of the disk. */
const KEPT_MS = 10_000;
/** A caller that does not want to wait gets a result that is up to this old. */
const RECENT_MS = 300_000;

/** `now` accepts a result that is some seconds old; `lately` one that is some minutes old, so that hardly any caller waits. */
type FindingsAge = "now" | "lately";

/** Runs the checks of `formsvc doctor` on this server's database and machine, without reading the whole file. */
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
      return await examine({ db, config, loaded, secretLists: SECRET_LISTS, now }, "quick");
    } catch (error) {
      return [unexamined(error, db.engine)];
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
