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

/** The limits of a server for files, by the settings of `files`. */
interface UploadLimits {
  readonly maxFileBytes: number;
  /** The largest number of files in one post. */
  readonly maxFiles: number;
  /** The largest size of a whole body, with its text. */
  readonly maxPostBytes: number;
  readonly uploadTimeoutMs: number;
  readonly minBytesPerSecond: number;
}

export interface UploadsParts {
  readonly limits: UploadLimits & { readonly minFreeBytes: number };
  readonly spoolRoom: SpoolRoom;
  readonly fileRoom: Pick<FileRoom, "check" | "noteRefusal">;
  /** The folder for bytes that have no room in memory. */
  readonly folder: string;
  readonly clock: Clock;
  /** Returns the free bytes of the disk; null if unknown. */
  readonly freeBytes: () => number | null;
  /** Whether the object store failed a moment ago. */
  readonly isStoreAway: () => boolean;
}

/** A file that was read to its end. */
interface ReadFile {
  /** The name that the client sent. */
  readonly name: string;
  readonly sha256: string;
  readonly source: ByteSource;
  /** The number of bytes received; the source has fewer if the file was not kept. */
  readonly size: number;
  /** The fault that was found while the file was read; null if none. */
  readonly fault: FileFault | null;
}

/** Handles the files of posts, from before their first byte until they are checked. */
export interface Uploads {
  readonly limits: UploadLimits;
  /**
   * Checks the limits and reserves room. Call it before a byte is read.
   *
   * @param bytes the least number of bytes of files that will arrive; 1 if unknown. @throws unavailable, upload_limit, storage_limit
   */
  admit(uploading: Uploading, sender: Uploader, bytes: number): Promise<Reservation>;
  /**
   * Notes that files were refused for a reason that {@link Uploads.admit} threw. Not every such post is refused, because it may turn out to
   * have no files.
   */
  noteRefusal(uploading: Uploading, reason: FormsvcError): Promise<void>;
  /** Opens a spool for the files of one post. The caller closes it. */
  open(sender: Uploader, reservation: Reservation | null): Spool;
  /** Checks a file, and finds its type and its cleaned name. */
  check(file: ReadFile, field: FileField): Promise<PostedFile>;
}

/** The client may try again after this time: meanwhile files may be deleted, or an operator may make room. */
const NO_ROOM_SECONDS = 60;

/**
 * The largest post that waits in memory, in bytes. A larger one would take the memory of many, and goes through a file; that costs a tenth
 * of the work of storing it.
 */
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

/** The client may try again after this time, because files that are being stored free their room within seconds. */
const SPOOL_SECONDS = 5;

export function spoolIsFull(crowd: Crowd): FormsvcError {
  const message =
    crowd === "everybody"
      ? "Too many files are under way; try again shortly."
      : "Too many files are under way from your address; try again when they are there.";
  return new FormsvcError("unavailable", message, { retryAfterSeconds: SPOOL_SECONDS });
}
