import type { Steps } from "../database/steps.ts";
import { countBrokenFiles, countLeftOut, countFileBytes } from "../files/file-store.ts";
import { wasServerFull } from "../files/file-room.ts";
import { countOf } from "../foundation/count-of.ts";
import { sizeText } from "../foundation/file-list.ts";
import { type Finding, problem, sound } from "../foundation/finding.ts";
import { hasReached } from "../workspaces/usage-mark.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { listNearStorage, type NearStorage } from "./near-storage.ts";

export interface FilesRules {
  /** `files.maxTotalBytes` */
  readonly maxTotalBytes: number;
  /** `files.minFreeBytes` */
  readonly minFreeBytes: number;
  /** Free bytes on the disk of the database; null if it cannot be seen. */
  readonly freeBytes: number | null;
  readonly plans: Plans;
}

/** One finding for each room for files that is nearly full, or is; a single sound one if none is. */
export function* checkFileRoom(rules: FilesRules, now: number): Steps<Finding[]> {
  const bytes = yield* countFileBytes();
  const findings = [
    ...(yield* checkServer(rules, bytes, now)),
    ...checkDisk(rules, bytes),
    ...(yield* listNearStorage(rules.plans, now)).map(findingOf),
  ];
  if (findings.length > 0) return findings;
  return [
    sound(
      "files.room",
      bytes === 0 ? "there are no files" : `there is room for files; they take ${sizeText(bytes)}`,
    ),
  ];
}

function* checkServer({ maxTotalBytes }: FilesRules, bytes: number, now: number): Steps<Finding[]> {
  const isFull = hasReached(bytes, maxTotalBytes, 100) || (yield* wasServerFull(now));
  if (!isFull && !hasReached(bytes, maxTotalBytes, 80)) return [];
  const message =
    `all files take ${sizeText(bytes)} of ${sizeText(maxTotalBytes)} (files.maxTotalBytes)` +
    (isFull ? "; posts with files that do not fit are answered 503" : "");
  return [problem("files.room", message, { kind: "make_room_for_files", percent: isFull ? "100" : "80" })];
}

/** A server that takes no files says nothing of the disk here: `database.disk` does. */
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

/** Files of which bytes are missing: somebody deleted rows by hand, or the file is damaged. */
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
