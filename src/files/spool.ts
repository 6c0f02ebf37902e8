import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ByteSource } from "./byte-source.ts";
import { giveBuffer, takeBuffer } from "./spare-buffers.ts";
import type { Crowd, Reservation, SpoolRoom, Uploader } from "./spool-room.ts";

/** A post up to this size has one block of its own size. */
const SMALL_BYTES = 65_536;

export interface SpoolParts {
  readonly room: SpoolRoom;
  readonly sender: Uploader;
  /** Room that is reserved for this post. Closing the spool frees what was not used of it. */
  readonly reservation?: Reservation | null;
  /** The folder for the file. */
  readonly folder: string;
  /** A post that is larger than this goes into a file, even if there is room in memory. */
  readonly keptBytes: number;
}

/**
 * Holds the bytes of one post's files until the whole post is read and checked: in memory while there is room, then in a file. The file is
 * unlinked as soon as it is open, so nothing stays behind when the process ends. Nothing is synced, because nothing here was acknowledged.
 */
export class Spool {
  readonly #parts: SpoolParts;
  /** The number of bytes that will arrive, as far as announced. */
  readonly #announcedBytes: number;
  /** The bytes that are not in the file. All blocks but the last are full. */
  #blocks: Buffer[] = [];
  /** The number of bytes in the last block. */
  #lastBytes = 0;
  /** The number of bytes of blocks that count as memory in the room. */
  #counted = 0;
  /** The descriptor of the file; null if there is none. */
  #file: number | null = null;
  #fileBytes = 0;
  #size = 0;
  #isClosed = false;

  constructor(parts: SpoolParts) {
    this.#parts = parts;
    this.#announcedBytes = parts.reservation?.leftBytes ?? 0;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Copies these bytes and takes room for them. Await {@link settle} before the next call. If there is no room, returns who takes it up.
   */
  append(bytes: Buffer): Crowd | null {
    const { room, sender, reservation } = this.#parts;
    const crowd = room.take(sender, bytes.length, reservation);
    if (crowd !== null) return crowd;
    for (let at = 0; at < bytes.length;) {
      const copied = bytes.copy(this.#blockWithRoom(), this.#lastBytes, at);
      this.#lastBytes += copied;
      at += copied;
    }
    this.#size += bytes.length;
    return null;
  }

  #blockWithRoom(): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#lastBytes < last.length) return last;
    const isSmall = this.#announcedBytes > 1 && this.#announcedBytes <= SMALL_BYTES;
    const block = isSmall ? Buffer.allocUnsafeSlow(this.#announcedBytes) : takeBuffer();
    this.#blocks.push(block);
    this.#lastBytes = 0;
    return block;
  }

  /** Writes the blocks into the file if they may not stay in memory. @throws if the disk refuses. */
  async settle(): Promise<void> {
    const hasRoom = this.#countBlocks();
    const isKept = this.#file === null && Math.max(this.#announcedBytes, this.#size) <= this.#parts.keptBytes;
    if (hasRoom && (isKept || this.#blocks.length <= 1)) return;
    this.#file ??= openUnnamed(this.#parts.folder);
    const blocks = this.#blocks.splice(0);
    try {
      for (const block of blocks) await this.#write(block);
    } finally {
      this.#giveBack(blocks);
    }
  }

  /** Counts new blocks as memory. Returns false if there is no room for them. */
  #countBlocks(): boolean {
    const added = bytesOf(this.#blocks) - this.#counted;
    if (!this.#parts.room.enterMemory(added)) return false;
    this.#counted += added;
    return true;
  }

  async #write(block: Buffer): Promise<void> {
    const bytes = Math.min(block.length, this.#size - this.#fileBytes);
    await writeAll(this.#file as number, block.subarray(0, bytes), this.#fileBytes);
    this.#fileBytes += bytes;
  }

  #giveBack(blocks: readonly Buffer[]): void {
    for (const block of blocks) giveBuffer(block);
    this.#parts.room.leaveMemory(this.#counted);
    this.#counted = 0;
  }

  /** A part of the bytes that were appended and settled. */
  source(start: number, size: number): ByteSource {
    return {
      size,
      read: (offset, length, into) =>
        this.#read(start + Math.min(offset, size), Math.max(0, Math.min(length, size - offset)), into),
    };
  }

  /** Reads a copy, because the blocks are used again as soon as the post ends, even if somebody still reads. */
  async #read(at: number, length: number, into?: Buffer): Promise<Buffer> {
    if (this.#isClosed) throw new Error("the spool of this post is closed");
    // The length is limited to what exists, because the rest of a new buffer holds bytes of others.
    const wanted = Math.max(0, Math.min(length, this.#size - at));
    const buffer = into?.subarray(0, wanted) ?? Buffer.allocUnsafe(wanted);
    const fromFile = Math.max(0, Math.min(wanted, this.#fileBytes - at));
    for (let done = 0; done < fromFile;) {
      const { bytesRead } = await read(this.#file as number, buffer, done, fromFile - done, at + done);
      if (bytesRead === 0) throw new Error("the spool of this post is shorter than it was");
      done += bytesRead;
    }
    if (fromFile < wanted) this.#copyBlocks(at + fromFile - this.#fileBytes, buffer.subarray(fromFile));
    return buffer;
  }

  /** @param start counts from the first byte that is not in the file. */
  #copyBlocks(start: number, into: Buffer): void {
    let from = start;
    let done = 0;
    for (const block of this.#blocks) {
      if (from < block.length) done += block.copy(into, done, from);
      from = Math.max(0, from - block.length);
    }
  }

  /** Frees all memory and room, and closes the file. May be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#giveBack(this.#blocks.splice(0));
    const { room, sender, reservation } = this.#parts;
    if (reservation) room.release(reservation);
    room.give(sender, this.#size);
    if (this.#file !== null) await close(this.#file);
  }
}

function bytesOf(blocks: readonly Buffer[]): number {
  return blocks.reduce((bytes, block) => bytes + block.length, 0);
}

const [read, write, close] = [promisify(fs.read), promisify(fs.write), promisify(fs.close)];

/** Makes a new file that only its descriptor reaches. The process can hardly end between the two calls, because they are synchronous. */
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
