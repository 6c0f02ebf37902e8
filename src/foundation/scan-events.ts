import type { Logger as Log } from "pino";

/** The events of scanning files for viruses. `events.ts` has the others. */

/** A scanned file of a post. `submissionId` is the id of the held post if the post is held. */
export interface ScannedFacts {
  readonly fileId: string;
  readonly submissionId: string;
}

export function virusFound(log: Log, facts: ScannedFacts & { readonly virus: string }): void {
  log.warn({ event: "scan.found", ...facts }, "a file has a virus: its bytes were deleted");
}

/** @param facts `isLast` is true if the scan is not tried again. */
export function scanFailed(
  log: Log,
  facts: ScannedFacts & { readonly reason: string; readonly attempts: number; readonly isLast: boolean },
): void {
  log.warn({ event: "scan.failed", ...facts }, "the scanner gave no verdict about a file");
}

/** Logged once, until the scanner has answered again. */
export function scannerAway(log: Log, facts: { readonly reason: string }): void {
  log.error({ event: "scan.away", ...facts }, "the virus scanner does not answer: files wait for it");
}

export function scannerBack(log: Log): void {
  log.info({ event: "scan.back" }, "the virus scanner answers again");
}

export function scansWaiting(log: Log, err: unknown): void {
  log.warn({ event: "scan.waiting", err }, "scans of files wait for the database, or for the store of files");
}
