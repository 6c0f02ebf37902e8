import type { Clock } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { newId } from "../foundation/id.ts";
import type { FileField } from "../schemas/field-definition.ts";
import { type FileFault, PostedFile } from "../schemas/posted-file.ts";
import type { ByteSource } from "./byte-source.ts";
import { cleanName } from "./clean-name.ts";
import { findType } from "./find-type.ts";
import type { FileRoom, Uploading } from "./file-room.ts";
import { storeIsAway } from "./s3-store.ts";
import { Spool } from "./spool.ts";
import type { Crowd, Reservation, SpoolRoom, Uploader } from "./spool-room.ts";

/** What a server accepts of files, by the settings of `files`. */
export interface UploadLimits {
  readonly maxFileBytes: number;
  /** Of one post. */
  readonly maxFiles: number;
  /** Of a whole body, with its text. */
  readonly maxPostBytes: number;
  readonly uploadTimeoutMs: number;
  readonly minBytesPerSecond: number;
}

export interface UploadsParts {
  readonly limits: UploadLimits & { readonly minFreeBytes: number };
  readonly spoolRoom: SpoolRoom;
  readonly fileRoom: Pick<FileRoom, "check" | "noteRefusal">;
  /** Where what has no room in memory waits. */
  readonly folder: string;
  readonly clock: Clock;
  /** Bytes that the disk still has; null if that cannot be seen. */
  readonly freeBytes: () => number | null;
  /** Whether the store that files go to failed a moment ago. */
  readonly isStoreAway: () => boolean;
}

/** A file that was read to its end. */
export interface ReadFile {
  /** As the client said. */
  readonly name: string;
  readonly sha256: string;
  readonly source: ByteSource;
  /** Bytes that came; more than the source has if it was not kept. */
  readonly size: number;
  /** What was found while it was read. */
  readonly fault: FileFault | null;
}

/** Files of posts, from before their first byte until they are checked. */
export interface Uploads {
  readonly limits: UploadLimits;
  /**
   * Call it before a byte is read. Keeps room for what will come.
   *
   * @param bytes of files that will come at least; 1 if that is not known. @throws unavailable, upload_limit, storage_limit
   */
  admit(uploading: Uploading, sender: Uploader, bytes: number): Promise<Reservation>;
  /** Call it if what {@link Uploads.admit} threw refuses files: a post that is admitted all the same may have none. */
  noteRefusal(uploading: Uploading, reason: FormsvcError): Promise<void>;
  /** Where the files of one post wait. Whoever opens it closes it. */
  open(sender: Uploader, reservation: Reservation | null): Spool;
  /** Says what a file is. */
  check(file: ReadFile, field: FileField): Promise<PostedFile>;
}

/** Time in which files may be deleted, or an operator may make room. */
const NO_ROOM_SECONDS = 60;

/** To write a post to a file and to read it again takes a tenth of the work of storing it. Larger ones would take the memory of many. */
const KEPT_BYTES = 8_388_608;

export function createUploads(parts: UploadsParts): Uploads {
  const { limits, spoolRoom: room, fileRoom, folder, clock } = parts;
  return {
    limits,
    async admit(uploading, sender, bytes) {
      const free = parts.freeBytes();
      if (free !== null && free < limits.minFreeBytes)
        throw new FormsvcError("unavailable", "The server's disk is nearly full, so it takes no files now.", {
          retryAfterSeconds: NO_ROOM_SECONDS,
        });
      if (parts.isStoreAway()) throw storeIsAway();
      await fileRoom.check(uploading, bytes, clock.now());
      const reserved = room.reserve(sender, bytes);
      if (typeof reserved === "string") throw spoolIsFull(reserved);
      return reserved;
    },
    noteRefusal: (uploading, reason) => fileRoom.noteRefusal(uploading, reason, clock.now()),
    open: (sender, reservation) => new Spool({ room, sender, reservation, folder, keptBytes: KEPT_BYTES }),
    async check(file, field) {
      const name = cleanName(file.name);
      const fault = file.fault ?? (file.size === 0 ? "size" : name === null ? "name" : null);
      const type = fault === null ? await findType(name ?? "", file.source, field) : null;
      const facts = {
        id: newId("fil", clock.now()),
        name: name ?? "",
        size: file.size,
        type: type ?? "application/octet-stream",
        sha256: file.sha256,
      };
      return new PostedFile(facts, fault ?? (type === null ? "type" : null), limits);
    },
  };
}

/** Files that are stored now make room within seconds. */
const SPOOL_SECONDS = 5;

export function spoolIsFull(crowd: Crowd): FormsvcError {
  const message =
    crowd === "everybody"
      ? "Too many files are under way; try again shortly."
      : "Too many files are under way from your address; try again when they are there.";
  return new FormsvcError("unavailable", message, { retryAfterSeconds: SPOOL_SECONDS });
}
