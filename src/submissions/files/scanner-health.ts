import { type ClamdTimes, Clamd, ScanFailure } from "../../files/clamd.ts";
import type { ScanBacklog } from "../../files/scan-store.ts";
import { type ClamdAddress, parseClamdAddress } from "../../foundation/clamd-address.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { countOf } from "../../foundation/count-of.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

const NAME = "files.scanner";
/** A file that waits longer than this for its scan is a problem. */
const LATE_MS = HOUR_MS;
/** Short timeouts, because the System page waits for the answer. */
const PATIENCE: ClamdTimes = { connectMs: 3000, stallMs: 3000, answerMs: 3000 };

export interface ScannerRules {
  /** The setting `files.clamd`, as it was checked. */
  readonly clamd: string | null;
  /** The setting `files.whenUnscanned`. */
  readonly whenUnscanned: "keep" | "refuse";
}

/** Asks the scanner for its version. @param backlog the files without a verdict */
export async function checkScanner(
  { clamd, whenUnscanned }: ScannerRules,
  backlog: ScanBacklog,
  now: number,
): Promise<Finding> {
  const waiting = backlogText(backlog);
  if (clamd === null) return withoutScanner(backlog, whenUnscanned);
  const asked = await askVersion(parseClamdAddress(clamd));
  if (asked instanceof ScanFailure) {
    const then = whenUnscanned === "keep" ? "files are kept as not scanned" : "nobody may open files";
    const message = `${asked.message}; after files.scanWaitMs ${then}; ${waiting}`;
    return problem(NAME, message, "start clamd, or correct its address (files.clamd)");
  }
  const { dueSince } = backlog;
  if (dueSince === null || now - dueSince < LATE_MS) return sound(NAME, `${asked} answers; ${waiting}`);
  return problem(
    NAME,
    `${asked} answers, and ${waiting}`,
    "see that the server runs, and look for scan.failed in its log and at the log of clamd",
  );
}

async function askVersion(address: ClamdAddress): Promise<string | ScanFailure> {
  try {
    return await new Clamd(address, PATIENCE).version();
  } catch (error) {
    if (error instanceof ScanFailure) return error;
    throw error;
  }
}

/** Reports files that an earlier scanner left, because nobody will ever scan them. */
function withoutScanner(backlog: ScanBacklog, whenUnscanned: ScannerRules["whenUnscanned"]): Finding {
  const message = "files are not scanned for viruses";
  if (backlog.files === 0) return sound(NAME, message);
  if (whenUnscanned === "keep") return sound(NAME, `${message}; ${backlogText(backlog)}`);
  return problem(
    NAME,
    `${message}, and ${backlogText(backlog)}: nobody may open them`,
    "name a scanner (files.clamd), or let people open them (files.whenUnscanned)",
  );
}

function backlogText({ files, givenUp, since }: ScanBacklog): string {
  if (files === 0 || since === null) return "no file waits for its verdict";
  const left = givenUp === 0 ? "" : ` (${givenUp} will not be tried again)`;
  const has = files === 1 ? "has" : "have";
  return `${countOf(files, "file")} ${has} no verdict${left}, since ${toIsoTime(since)}`;
}
