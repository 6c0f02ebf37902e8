import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ByteSource } from "./byte-source.ts";
import { giveBuffer, SPARE_BYTES, takeBuffer } from "./spare-buffers.ts";
import type { Crowd, Reservation, SpoolRoom, Uploader } from "./spool-room.ts";

/** Bytes of one post that wait in memory, at most this and what came at once; what is more goes into a file, as many at a time. */
const MEMORY_BYTES = 262_144;
/** Posts with files seldom have more; what is more goes into a buffer that is used again. */
const SMALL_BYTES = 65_536;
const EMPTY = Buffer.alloc(0);

export interface SpoolParts {
  readonly room: SpoolRoom;
  readonly sender: Uploader;
  /** Room that is kept for this post. Closing the spool gives back what is left of it. */
  readonly reservation?: Reservation | null;
  /** Where the file is made. */
  readonly folder: string;
}

/**
 * Holds the bytes of one post's files until the whole post is read and checked. The file loses its name right after it is opened, so
 * the end of the process leaves nothing behind. Nothing is synced: what is here was not acknowledged.
 */
export class Spool {
  readonly #parts: SpoolParts;
  /** Begins with the bytes that are not in the file. */
  #memory: Buffer = EMPTY;
  #memoryBytes = 0;
  /** Bytes of the buffer that the room knows of. */
  #counted = 0;
  /** A descriptor. */
  #file: number | null = null;
  #size = 0;
  #isClosed = false;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#size;
  }

  /** Copies these bytes and takes the room for them at once. Call {@link settle} before more. Returns who takes the room if there is none. */
  append(bytes: Buffer): Crowd | null {
    const { room, sender, reservation } = this.#parts;
    const crowd = room.take(sender, bytes.length, reservation);
    if (crowd !== null) return crowd;
    const needed = this.#memoryBytes + bytes.length;
    if (needed > this.#memory.length) {
      const grown = makeRoom(needed);
      this.#memory.copy(grown, 0, 0, this.#memoryBytes);
      this.#memory = grown;
    }
    bytes.copy(this.#memory, this.#memoryBytes);
    this.#memoryBytes = needed;
    this.#size += bytes.length;
    return null;
  }

  /** Writes what has no room in memory. @throws if the disk refuses. */
  async settle(): Promise<void> {
    const hasRoom = this.#countMemory();
    if (hasRoom && this.#memoryBytes <= MEMORY_BYTES) return;
    this.#file ??= openUnnamed(this.#parts.folder);
    const bytes = this.#memoryBytes;
    await writeAll(this.#file, this.#memory.subarray(0, bytes), this.#size - bytes);
    // What came meanwhile, if anything did, is not lost.
    this.#memory.copyWithin(0, bytes, this.#memoryBytes);
    this.#memoryBytes -= bytes;
    if (!hasRoom && this.#memoryBytes === 0) this.#leaveMemory();
  }

  #countMemory(): boolean {
    const grown = this.#memory.length - this.#counted;
    if (!this.#parts.room.enterMemory(grown)) return false;
    this.#counted += grown;
    return true;
  }

  #leaveMemory(): void {
    // As long as there is no file, sources give parts of it away.
    if (this.#file !== null) giveBuffer(this.#memory);
    this.#memory = EMPTY;
    this.#memoryBytes = 0;
    this.#parts.room.leaveMemory(this.#counted);
    this.#counted = 0;
  }

  /** A part of what was appended and settled. */
  source(start: number, size: number): ByteSource {
    return {
      size,
      read: (offset, length, into) =>
        this.#read(start + Math.min(offset, size), Math.max(0, Math.min(length, size - offset)), into),
    };
  }

  async #read(at: number, length: number, into?: Buffer): Promise<Buffer> {
    if (this.#isClosed) throw new Error("the spool of this post is closed");
    if (this.#file === null) return this.#memory.subarray(at, at + length);
    const buffer = into?.subarray(0, length) ?? Buffer.allocUnsafe(length);
    const fileBytes = this.#size - this.#memoryBytes;
    const fromFile = Math.max(0, Math.min(length, fileBytes - at));
    let done = 0;
    while (done < fromFile) {
      const { bytesRead } = await read(this.#file, buffer, done, fromFile - done, at + done);
      if (bytesRead === 0) throw new Error("the spool of this post is shorter than it was");
      done += bytesRead;
    }
    const inMemory = Math.max(0, at - fileBytes);
    this.#memory.copy(buffer, done, inMemory, inMemory + length - done);
    return buffer;
  }

  /** Gives everything back. May be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leaveMemory();
    const { room, sender, reservation } = this.#parts;
    if (reservation) room.release(reservation);
    room.give(sender, this.#size);
    if (this.#file !== null) await close(this.#file);
  }
}

function makeRoom(bytes: number): Buffer {
  if (bytes <= SMALL_BYTES) return Buffer.allocUnsafeSlow(Math.min(2 * bytes, SMALL_BYTES));
  return bytes <= SPARE_BYTES ? takeBuffer() : Buffer.allocUnsafeSlow(bytes);
}

const [read, write, close] = [promisify(fs.read), promisify(fs.write), promisify(fs.close)];

/** A new file that only this descriptor reaches. Both calls follow each other at once: hardly anything can end the process between. */
function openUnnamed(folder: string): number {
  const path = join(folder, `.formsvc-upload-${randomBytes(12).toString("hex")}`);
  const file = fs.openSync(path, "wx+", 0o600);
  try {
    fs.unlinkSync(path);
  } catch (error) {
    fs.closeSync(file);
    throw error;
  }
  return file;
}

async function writeAll(file: number, bytes: Buffer, start: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await write(file, bytes, written, bytes.length - written, start + written);
    written += bytesWritten;
  }
}
