import { createHash } from "node:crypto";
import { yieldToOthers } from "../../database/slices.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { Spool } from "../../files/spool.ts";
import { SpoolRoom } from "../../files/spool-room.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { type Clock, dayStart } from "../../foundation/clock.ts";
import type { ImportedFile } from "./imported-file.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** A file that a client sent, until it is imported. */
export interface ReceivedFile extends ImportedFile {
  readonly sha256: Buffer;
  /** Does work that reads it, and gives its room back when that has ended. */
  use<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Gives its room back unless some work uses it. */
  closeUnused(): Promise<void>;
  /**
   * Does work that reads it, and keeps it for more of it: until its importer sends another one, others need its room, or half an hour
   * is over.
   *
   * @throws not_found if it is not kept any more; rate_limited if other work of its importer goes on
   */
  keep<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Gives its room back. May be called again. */
  close(): Promise<void>;
}

export interface ImportSpoolParts {
  /** The folder in which the files are made. */
  readonly folder: string;
  /** Bytes that the disk still has; null if that cannot be seen. */
  readonly freeBytes: () => number | null;
  /** Below this many free bytes no file is taken. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  /** How long a file is kept between two uses, in milliseconds: {@link KEEP_MS} unless given. */
  readonly keepMs?: number;
}

/** Who sends a file. */
export interface Importer {
  /** An account, or what a service token belongs to. */
  readonly id: string;
  /** Whether they have {@link MAX_DAY_BYTES}: imports count towards no plan, and the disk is everybody's. */
  readonly isBounded: boolean;
}

/** Bytes of a file that is imported through a server: a million submissions of the usual size. */
export const MAX_IMPORT_BYTES = 268_435_456;
/** Bytes that an importer who is no operator sends in a day of UTC. In memory: a restart forgets them. */
export const MAX_DAY_BYTES = 4 * MAX_IMPORT_BYTES;
/** Importers whose bytes of a day are remembered; beyond them the first is forgotten. */
const MAX_REMEMBERED = 10_000;
/** Bytes of all files that are imported through a server at a time. */
const ROOM_BYTES = 4 * MAX_IMPORT_BYTES;
/** Bytes that are read in one piece: all else waits so long. */
const PIECE_BYTES = 4_194_304;
const PART_BYTES = 65_536;
const RETRY_SECONDS = 60;
/** Somebody looks at what an import would do, and then has it done. */
const KEEP_MS = 1_800_000;

/** Keeps files that are imported through a server: they are read twice, to check all of them before anything is stored. */
export class ImportSpool {
  readonly #parts: ImportSpoolParts;
  readonly #room = new SpoolRoom(ROOM_BYTES, MAX_IMPORT_BYTES);
  /** Whose file is used or on its way. */
  readonly #underWay = new Set<string>();
  /** What closes a file that waits for its importer, by importer; the one that has waited longest is the first. */
  readonly #waiting = new Map<string, () => Promise<void>>();
  /** Bytes by day and importer. */
  readonly #sent = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(parts: ImportSpoolParts) {
    this.#parts = parts;
  }

  /**
   * Receives a whole file. One account sends one at a time.
   *
   * @param lengthBytes what its client says; null if it does not
   * @throws payload_too_large, rate_limited, unavailable, and what the stream throws if its client leaves
   */
  async receive(
    body: AsyncIterable<Buffer>,
    { importer, name, lengthBytes }: { importer: Importer; name: string; lengthBytes: number | null },
  ): Promise<ReceivedFile> {
    const { id, isBounded } = importer;
    const now = this.#parts.clock.now();
    const day = `${dayStart(now)} ${id}`;
    const room = isBounded ? MAX_DAY_BYTES - (this.#sent.get(day) ?? 0) : Infinity;
    if (lengthBytes !== null && lengthBytes > MAX_IMPORT_BYTES) throw tooLarge();
    const free = this.#parts.freeBytes();
    if (free !== null && free < this.#parts.minFreeBytes + (lengthBytes ?? 0)) throw noRoom();
    if ((lengthBytes ?? 1) > room) throw dayIsFull(now);
    if (this.#underWay.has(id)) throw ownGoesOn();
    this.#underWay.add(id);
    // The importer's earlier file gives way to this one.
    await this.#waiting.get(id)?.();
    const spool = new Spool({
      room: this.#room,
      sender: { unit: id, kind: "client" },
      folder: this.#parts.folder,
      // It may wait for half an hour.
      keptBytes: 0,
    });
    const stay = this.#stayOf(id, spool);
    try {
      const sha256 = await this.#fill(spool, body, { roomBytes: room, now });
      return receivedFile(name, spool, sha256, stay);
    } catch (error) {
      await stay.close();
      throw error;
    } finally {
      this.#sent.set(day, (this.#sent.get(day) ?? 0) + spool.size);
    }
  }

  /** Gives back the room of all files that wait for their importers. */
  async close(): Promise<void> {
    while (await this.#closeLongestWaiting());
  }

  /** Returns the digest. */
  async #fill(
    spool: Spool,
    body: AsyncIterable<Buffer>,
    { roomBytes, now }: { roomBytes: number; now: number },
  ): Promise<Buffer> {
    const sha256 = createHash("sha256");
    for await (const part of body) {
      if (spool.size + part.length > MAX_IMPORT_BYTES) throw tooLarge();
      if (spool.size + part.length > roomBytes) throw dayIsFull(now);
      sha256.update(part);
      while (spool.append(part) !== null) if (!(await this.#closeLongestWaiting())) throw noRoom();
      await spool.settle().catch((cause: unknown) => {
        throw noRoom(cause);
      });
    }
    return sha256.digest();
  }

  /** Returns false if none waits. */
  async #closeLongestWaiting(): Promise<boolean> {
    const [close] = this.#waiting.values();
    await close?.();
    return close !== undefined;
  }

  /** Of a file that is on its way. */
  #stayOf(id: string, spool: Spool): Stay {
    let state: "under way" | "waiting" | "closed" = "under way";
    let limit: NodeJS.Timeout | undefined;
    const leave = (): void => {
      clearTimeout(limit);
      if (state === "waiting") this.#waiting.delete(id);
      else this.#underWay.delete(id);
    };
    const close = async (): Promise<void> => {
      if (state === "closed") return;
      leave();
      state = "closed";
      await spool.close();
    };
    return {
      close,
      wait: () => {
        if (state === "closed") return;
        leave();
        state = "waiting";
        this.#waiting.set(id, close);
        limit = setTimeout(() => void close(), this.#parts.keepMs ?? KEEP_MS).unref();
      },
      goOn: () => {
        if (state === "closed") throw notKept();
        if (state === "under way") return;
        if (this.#underWay.has(id)) throw ownGoesOn();
        leave();
        state = "under way";
        this.#underWay.add(id);
      },
    };
  }
}

/** Whether a file is used, waits for its importer, or is gone. */
interface Stay {
  readonly wait: () => void;
  /** @throws not_found, rate_limited */
  readonly goOn: () => void;
  readonly close: () => Promise<void>;
}

function receivedFile(name: string, spool: Spool, sha256: Buffer, { close, wait, goOn }: Stay): ReceivedFile {
  const source = spool.source(0, spool.size);
  let isUsed = false;
  let isKeeping = false;
  return {
    name,
    sha256,
    longestPieceBytes: PIECE_BYTES,
    async *bytes() {
      for (let offset = 0; offset < source.size; offset += PART_BYTES) {
        yield await source.read(offset, PART_BYTES);
        await yieldToOthers();
      }
    },
    async use(work) {
      isUsed = true;
      try {
        return await work();
      } finally {
        await close();
      }
    },
    async closeUnused() {
      if (!isUsed) await close();
    },
    async keep(work) {
      if (isKeeping) throw ownGoesOn();
      goOn();
      isKeeping = true;
      try {
        return await work();
      } finally {
        isKeeping = false;
        wait();
      }
    },
    close,
  };
}

function tooLarge(): FormsvcError {
  return new FormsvcError(
    "payload_too_large",
    `A file has up to ${MAX_IMPORT_BYTES / 1_048_576} MiB here; split it, or import it on the machine of the server.`,
    { details: { maximum: MAX_IMPORT_BYTES } },
  );
}

function noRoom(cause?: unknown): FormsvcError {
  return new FormsvcError("unavailable", "The server has no room for this file now.", {
    retryAfterSeconds: RETRY_SECONDS,
    ...(cause !== undefined && { cause }),
  });
}

function dayIsFull(now: number): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    `An account imports up to ${MAX_DAY_BYTES / 1_048_576} MiB a day; go on tomorrow, or import on the machine of the server.`,
    { retryAfterSeconds: Math.ceil((dayStart(now) + DAY_MS - now) / 1000) },
  );
}

function notKept(): FormsvcError {
  return new FormsvcError(
    "not_found",
    "The file is not here any more: it was kept for half an hour, until a restart, or until others needed its room.",
  );
}

function ownGoesOn(): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    "Another import of yours goes on; try again when it has ended. What is imported twice is there once.",
    { retryAfterSeconds: RETRY_SECONDS },
  );
}
