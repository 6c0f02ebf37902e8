import { createHash } from "node:crypto";
import { yieldToOthers } from "../../database/slices.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { Spool } from "../../files/spool.ts";
import { SpoolRoom } from "../../files/spool-room.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import { type Clock, dayStart } from "../../foundation/clock.ts";
import type { ImportedFile } from "./imported-file.ts";
import { DAY_MS } from "../../foundation/time-units.ts";

/** A file that a client sent, kept until it is imported. */
export interface ReceivedFile extends ImportedFile {
  readonly sha256: Buffer;
  /** Runs work that reads the file, and then gives the file's room back. */
  use<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Gives the file's room back, unless `use` was called. */
  closeUnused(): Promise<void>;
  /**
   * Runs work that reads the file, and keeps the file for further work: until the importer sends another one, others need the room, or half
   * an hour has passed.
   *
   * @throws not_found if the file is not kept any more; rate_limited if other work of the same importer runs
   */
  keep<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Gives the file's room back. May be called again. */
  close(): Promise<void>;
}

export interface ImportSpoolParts {
  /** The folder for the files. */
  readonly folder: string;
  /** Returns the free bytes of the disk; null if unknown. */
  readonly freeBytes: () => number | null;
  /** With fewer free bytes than this, no file is accepted. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  /** Time for which a file is kept between two uses, in milliseconds; the default is {@link KEEP_MS}. */
  readonly keepMs?: number;
}

/** The sender of a file. */
export interface Importer {
  /** The id of an account, or of the workspace that a service token belongs to. */
  readonly id: string;
  /** Whether {@link MAX_DAY_BYTES} applies: no plan limits imports, and all workspaces share the disk. */
  readonly isBounded: boolean;
}

/** The largest file that can be imported through a server, in bytes: a million submissions of the usual size. */
export const MAX_IMPORT_BYTES = 268_435_456;
/**
 * The largest number of bytes that an importer who is no operator may send in a UTC day. They are counted in memory, so a restart forgets
 * them.
 */
export const MAX_DAY_BYTES = 4 * MAX_IMPORT_BYTES;
/** The number of importers whose bytes of a day are remembered; beyond it the first is forgotten. */
const MAX_REMEMBERED = 10_000;
/** The largest number of bytes of all files that are kept at the same time. */
const ROOM_BYTES = 4 * MAX_IMPORT_BYTES;
/** The largest number of bytes that are read in one piece; all other work waits meanwhile. */
const PIECE_BYTES = 4_194_304;
/** More than a post of the usual 64 KiB can have. It takes 60 ms at most to parse them; 4 MiB of objects took 800 ms. */
const MOST_MEMBERS = 22_000;
const PART_BYTES = 65_536;
const RETRY_SECONDS = 60;
/** A restart takes less. */
const STOP_RETRY_SECONDS = 5;
/** Time in which somebody looks at what an import would do, and then runs it. */
const KEEP_MS = 1_800_000;

/** Keeps files that are imported through a server. They are read twice, because a whole file is checked before anything is stored. */
export class ImportSpool {
  readonly #parts: ImportSpoolParts;
  readonly #room = new SpoolRoom(ROOM_BYTES, MAX_IMPORT_BYTES);
  /** The importers whose file is being received or used. */
  readonly #underWay = new Set<string>();
  /** For each importer whose file waits for them, a function that closes it; the one that has waited longest is the first. */
  readonly #waiting = new Map<string, () => Promise<void>>();
  /** The number of bytes received, by day and importer. */
  readonly #sent = new BoundedMap<string, number>(MAX_REMEMBERED);
  readonly #uses = new Uses();

  constructor(parts: ImportSpoolParts) {
    this.#parts = parts;
  }

  /**
   * Receives a whole file. An account sends one file at a time.
   *
   * @param lengthBytes the length that the client announced; null if it announced none
   * @throws payload_too_large, rate_limited, unavailable, and what the stream throws if the client disconnects
   */
  async receive(
    body: AsyncIterable<Buffer>,
    { importer, name, lengthBytes }: { importer: Importer; name: string; lengthBytes: number | null },
  ): Promise<ReceivedFile> {
    this.#uses.mayGoOn();
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
    // The new file replaces the importer's earlier one.
    await this.#waiting.get(id)?.();
    const spool = new Spool({
      room: this.#room,
      sender: { unit: id, kind: "client" },
      folder: this.#parts.folder,
      // All bytes go to a file and none stay in memory, because the file may wait for half an hour.
      keptBytes: 0,
    });
    const stay = this.#stayOf(id, spool);
    try {
      const sha256 = await this.#fill(spool, body, { roomBytes: room, now });
      return receivedFile({ name, spool, sha256, stay, uses: this.#uses });
    } catch (error) {
      await stay.close();
      throw error;
    } finally {
      this.#sent.set(day, (this.#sent.get(day) ?? 0) + spool.size);
    }
  }

  /** Ends the work that reads files, at its next piece, and closes all files that wait for their importers. */
  async close(): Promise<void> {
    await this.#uses.end();
    while (await this.#closeLongestWaiting());
  }

  /** Writes the body into the spool. Returns its SHA-256. */
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

  /** Closes the file that has waited longest. Returns false if none waits. */
  async #closeLongestWaiting(): Promise<boolean> {
    const [close] = this.#waiting.values();
    await close?.();
    return close !== undefined;
  }

  /** Tracks the state of a file that is being received. */
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

/** Tracks whether a file is in use, waits for its importer, or is closed. */
interface Stay {
  readonly wait: () => void;
  /** Takes the file into use again. @throws not_found, rate_limited */
  readonly goOn: () => void;
  readonly close: () => Promise<void>;
}

/** The work that reads files. It may take minutes, and ends when the server stops. */
class Uses {
  readonly #running = new Set<Promise<unknown>>();
  #isEnding = false;

  /** @throws unavailable if the server stops */
  mayGoOn(): void {
    if (this.#isEnding) throw serverStops();
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when all work has ended. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.allSettled(this.#running);
  }
}

interface ReceivedParts {
  readonly name: string;
  readonly spool: Spool;
  readonly sha256: Buffer;
  readonly stay: Stay;
  readonly uses: Uses;
}

function receivedFile({ name, spool, sha256, stay, uses }: ReceivedParts): ReceivedFile {
  const { close, wait, goOn } = stay;
  const source = spool.source(0, spool.size);
  let isUsed = false;
  let isKeeping = false;
  return {
    name,
    sha256,
    longestPieceBytes: PIECE_BYTES,
    mostMembers: MOST_MEMBERS,
    async *bytes() {
      for (let offset = 0; offset < source.size; offset += PART_BYTES) {
        uses.mayGoOn();
        yield await source.read(offset, PART_BYTES);
        await yieldToOthers();
      }
    },
    async use(work) {
      isUsed = true;
      try {
        return await uses.run(work);
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
        return await uses.run(work);
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
    `a file has up to ${MAX_IMPORT_BYTES / 1_048_576} MiB here; split it, or import it on the machine of the server`,
    { details: { maximum: MAX_IMPORT_BYTES } },
  );
}

function noRoom(cause?: unknown): FormsvcError {
  return new FormsvcError("unavailable", "the server has no room for this file now", {
    retryAfterSeconds: RETRY_SECONDS,
    ...(cause !== undefined && { cause }),
  });
}

function serverStops(): FormsvcError {
  return new FormsvcError(
    "unavailable",
    "the server is being restarted; send the file again in a moment (a row that is imported twice is stored once)",
    { retryAfterSeconds: STOP_RETRY_SECONDS },
  );
}

function dayIsFull(now: number): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    `an account imports up to ${MAX_DAY_BYTES / 1_048_576} MiB a day; go on tomorrow, or import on the machine of the server`,
    { retryAfterSeconds: Math.ceil((dayStart(now) + DAY_MS - now) / 1000) },
  );
}

function notKept(): FormsvcError {
  return new FormsvcError(
    "not_found",
    "the file is not here any more: it was kept for half an hour, until a restart, or until others needed its room",
  );
}

function ownGoesOn(): FormsvcError {
  return new FormsvcError(
    "rate_limited",
    "another import of yours goes on; try again when it has ended (a row that is imported twice is stored once)",
    { retryAfterSeconds: RETRY_SECONDS },
  );
}
