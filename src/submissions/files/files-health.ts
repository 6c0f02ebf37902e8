import type { Steps } from "../../database/steps.ts";
import { countDeletions } from "../../files/file-deletions.ts";
import { countBrokenFiles, countFileBytes, countLeftOut, countObjectBytes } from "../../files/file-store.ts";
import type { ObjectStore } from "../../files/object-store.ts";
import { listFullForms, wasAddressFull, wasServerFull } from "../../files/file-room.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { sizeText } from "../../foundation/file-list.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { listNames } from "../../foundation/list-names.ts";
import { hasReached } from "../../workspaces/usage-mark.ts";
import type { Plans } from "../../workspaces/workspace.ts";
import { listNearStorage, type NearStorage } from "./near-storage.ts";
import { HOUR_MS } from "../../foundation/time-units.ts";

export interface FilesRules {
  /** The setting `files.maxTotalBytes`. */
  readonly maxTotalBytes: number;
  /** The setting `files.minFreeBytes`. */
  readonly minFreeBytes: number;
  /** Free bytes on the disk of the database; null if unknown. */
  readonly freeBytes: number | null;
  readonly plans: Plans;
}

/** Returns one finding for each room for files that is full or nearly full, or a single sound one if there is none. */
export function* checkFileRoom(rules: FilesRules, now: number): Steps<Finding[]> {
  const bytes = yield* countFileBytes();
  const findings = [
    ...(yield* checkServer(rules, bytes, now)),
    ...checkDisk(rules, bytes),
    ...(yield* listNearStorage(rules.plans, now)).map(findingOf),
    ...(yield* checkForms(now)),
  ];
  if (findings.length > 0) return findings;
  const taken = bytes === 0 ? "there are no files" : `there is room for files; they take ${sizeText(bytes)}`;
  const inDatabase = bytes - (yield* countObjectBytes());
  return [sound("files.room", inDatabase < MANY_BYTES ? taken : `${taken}; ${MANY_ADVICE}`)];
}

/** The total size of files, in bytes, from which copies of the database take long. */
const MANY_BYTES = 2_000_000_000;
const MANY_ADVICE =
  "from 2 GB on, an S3-compatible store keeps database and backups small (files.storage, for new files)";

function* checkServer({ maxTotalBytes }: FilesRules, bytes: number, now: number): Steps<Finding[]> {
  const isFull = hasReached(bytes, maxTotalBytes, 100) || (yield* wasServerFull(now));
  if (!isFull && !hasReached(bytes, maxTotalBytes, 80)) return [];
  const message =
    `all files take ${sizeText(bytes)} of ${sizeText(maxTotalBytes)} (files.maxTotalBytes)` +
    (isFull ? "; posts with files that do not fit are answered 503" : "");
  return [problem("files.room", message, { kind: "make_room_for_files", percent: isFull ? "100" : "80" })];
}

/** Says nothing about the disk if no files are stored: `database.disk` does. */
function checkDisk({ freeBytes, minFreeBytes }: FilesRules, bytes: number): Finding[] {
  if (bytes === 0 || freeBytes === null || freeBytes >= minFreeBytes) return [];
  const message = `${sizeText(freeBytes)} are free on the disk of the database; below ${sizeText(minFreeBytes)} (files.minFreeBytes) posts with files are answered 503`;
  return [problem("files.room", message, "make room on the disk, or lower files.minFreeBytes")];
}

function findingOf({ workspaceId, used, limit, plan, isFull }: NearStorage): Finding {
  const message =
    `the files of ${workspaceId} take ${sizeText(used)} of ${sizeText(limit)} of the plan ${plan}` +
    (isFull ? "; posts with files that do not fit are answered 429" : "");
  return problem("files.room", message, { kind: "change_plan", workspaceId });
}

/** The largest number of forms that one finding names. */
const MAX_NAMED = 10;

/** Finds the forms whose pages have used up their bytes of files for a day. */
function* checkForms(now: number): Steps<Finding[]> {
  const forms = yield* listFullForms(now);
  const isNow = forms[0]?.isToday;
  if (isNow === undefined) return [];
  const full = forms.filter(({ isToday }) => isToday === isNow).map(({ endpointId }) => endpointId);
  const message =
    `posts with files to ${listNames(full, MAX_NAMED)} ` +
    `${isNow ? "are answered 429 until" : "were answered 429 yesterday until"} 00:00 UTC: ` +
    "their publishable keys sent as much as they may in a day (files.maxFormShare)";
  return [problem("files.room", message, { kind: "raise_form_share" })];
}

/**
 * Always returns a sound finding: strangers can use up the limit of their own address, which is no problem of the machine. But the message
 * names the limit, because all visitors behind a proxy that is not configured share one address.
 */
export function* checkUploadAddresses(maxBytesPerAddressPerDay: number | null, now: number): Steps<Finding> {
  if (maxBytesPerAddressPerDay === null || !(yield* wasAddressFull(now)))
    return sound("files.addresses", "no address sent more files than it may in a day");
  return sound(
    "files.addresses",
    `since yesterday (UTC) posts were answered 429 whose address had sent ${sizeText(maxBytesPerAddressPerDay)} of files in a day ` +
      "(files.maxBytesPerAddressPerDay); if many people share it, name their proxy in server.trustProxy, their network in rateLimit.exempt, or raise the limit",
  );
}

/** Finds files with missing bytes: somebody deleted rows by hand, or the database file is damaged. */
export function* checkFileChunks(): Steps<Finding> {
  const broken = yield* countBrokenFiles();
  const leftOut = yield* countLeftOut();
  if (broken === 0 && leftOut === 0) return sound("files.chunks", "every file has all its bytes");
  if (broken === 0)
    return sound(
      "files.chunks",
      `the bytes of ${countOf(leftOut, "file")} are not here: this database was restored from a backup without files`,
    );
  return problem(
    "files.chunks",
    `${broken} ${broken === 1 ? "file lacks" : "files lack"} bytes; downloads of ${broken === 1 ? "it" : "them"} fail`,
    { kind: "heed_or_restore" },
  );
}

/** A deleted file that waits for the store longer than this is a problem. */
const LATE_MS = HOUR_MS;

/**
 * Checks the store of files for recent faults, and the queue of files that it has to delete. @param store null if the configuration names
 * none
 */
export function* checkDeletions(store: ObjectStore | null, now: number): Steps<Finding> {
  const name = "files.deletions";
  const objects = yield* countObjectBytes();
  const { objects: waiting, since } = yield* countDeletions(now);
  if (store === null && (objects > 0 || waiting > 0))
    return problem(
      name,
      "there are files in an S3-compatible store that the configuration does not name: nobody can read or delete them",
      "name the store again (files.s3); new files go into the database if files.storage is database",
    );
  if (store?.fault) return problem(name, `the S3-compatible store of files ${store.fault}`, ADVICE_OF_STORE);
  if (waiting === 0 || since === null) return sound(name, "no deleted file waits for the store of files");
  const message = `${countOf(waiting, "deleted file")} ${waiting === 1 ? "waits" : "wait"} for the store of files, since ${toIsoTime(since)}`;
  return now - since < LATE_MS ? sound(name, message) : problem(name, message, ADVICE_OF_STORE);
}

const ADVICE_OF_STORE =
  "see whether it runs, and whether files.s3 names its address, bucket, region and an access key that may put, get and delete objects";

/** Checks the store by storing, reading and deleting a small object. */
export async function checkStore(store: ObjectStore | null): Promise<Finding> {
  const name = "files.store";
  if (store === null) return sound(name, "files are in the database");
  let fault: string | null;
  try {
    fault = await store.probe();
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    return problem(
      name,
      error.message,
      "correct it, or run doctor as the user and with the environment of the service",
    );
  }
  if (fault === null) return sound(name, "the S3-compatible store of files stores, reads and deletes");
  return problem(name, `the S3-compatible store of files ${fault}`, ADVICE_OF_STORE);
}
