import { SECRET_LISTS, type ServiceParts } from "../app.ts";
import { loadConfig } from "../config/load-config.ts";
import { examine, failedCheck } from "../doctor/examine.ts";
import type { Finding } from "../foundation/finding.ts";

/** Time for which a result is given again: the checks read folders and the state of the disk. */
const KEPT_MS = 10_000;

/** What `formsvc doctor` finds about this server's database and machine, without reading the whole file. */
export function createSelfExamination(
  { db, config, clock }: Omit<ServiceParts, "metrics">,
  configFile: string | null,
): () => Promise<readonly Finding[]> {
  let kept: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | null = null;
  const look = async (now: number): Promise<readonly Finding[]> => {
    try {
      const loaded = loadConfig(configFile);
      return await examine({ db, config, loaded, secretLists: SECRET_LISTS, now }, false);
    } catch (error) {
      return [failedCheck(error)];
    }
  };
  return () => {
    const now = clock.now();
    if (kept === null || Math.abs(now - kept.at) >= KEPT_MS) kept = { at: now, findings: look(now) };
    return kept.findings;
  };
}
