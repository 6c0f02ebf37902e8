import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ByteSource } from "./byte-source.ts";
import type { Crowd, Reservation, SpoolRoom, Uploader } from "./spool-room.ts";

/** Bytes of one post that wait in memory; what is more goes into a file. */
const MEMORY_BYTES = 262_144;

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
  #memory: Buffer[] = [];
  #memoryBytes = 0;
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

  /**
   * Takes the room for these bytes at once. Call {@link settle} before more. Returns who takes the room if there is none.
   *
   * @param isSteady whether they stay as they are until they are settled; others are copied.
   */
  append(bytes: Buffer, isSteady = false): Crowd | null {
    const { room, sender, reservation } = this.#parts;
    const crowd = room.take(sender, bytes.length, reservation);
    if (crowd !== null) return crowd;
    this.#size += bytes.length;
    // What stays in memory is copied too: a small part would keep all bytes that came with it.
    this.#memory.push(isSteady && this.#file !== null ? bytes : Buffer.from(bytes));
    this.#memoryBytes += bytes.length;
    return null;
  }

  /** Writes what has no room in memory. @throws if the disk refuses. */
  async settle(): Promise<void> {
    const { room, folder } = this.#parts;
    if (this.#file === null) {
      const grown = this.#memoryBytes - this.#counted;
      if (this.#memoryBytes <= MEMORY_BYTES && room.enterMemory(grown)) {
        this.#counted += grown;
        return;
      }
      this.#file = openUnnamed(folder);
      this.#leaveMemory();
    }
    const waiting = this.#memory;
    const at = this.#size - this.#memoryBytes;
    this.#memory = [];
    this.#memoryBytes = 0;
    await writeAll(this.#file, waiting, at);
  }

  /** Bytes that the room counts as being in memory. */
  #counted = 0;

  #leaveMemory(): void {
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
    if (this.#file === null) {
      if (this.#memory.length > 1) this.#memory = [Buffer.concat(this.#memory)];
      return this.#memory[0]?.subarray(at, at + length) ?? Buffer.alloc(0);
    }
    const buffer = into?.subarray(0, length) ?? Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await read(this.#file, buffer, done, length - done, at + done);
      if (bytesRead === 0) throw new Error("the spool of this post is shorter than it was");
      done += bytesRead;
    }
    return buffer;
  }

  /** Gives everything back. May be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#memory = [];
    this.#leaveMemory();
    const { room, sender, reservation } = this.#parts;
    if (reservation) room.release(reservation);
    room.give(sender, this.#size);
    if (this.#file !== null) await close(this.#file);
  }
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

async function writeAll(file: number, buffers: readonly Buffer[], start: number): Promise<void> {
  let at = start;
  for (const buffer of buffers) {
    for (let written = 0; written < buffer.length;) {
      const { bytesWritten } = await write(file, buffer, written, buffer.length - written, at + written);
      written += bytesWritten;
    }
    at += buffer.length;
  }
}
