import { inflateRawSync } from "node:zlib";
import type { ByteSource } from "./byte-source.ts";

/** One member of an archive, as the archive's directory describes it. */
export interface ZipMember {
  readonly name: string;
  /** The size of the packed bytes in the archive. */
  readonly packedBytes: number;
  readonly isDeflated: boolean;
  readonly offset: number;
}

const END_SIGNATURE = 0x06_05_4b_50;
const MEMBER_SIGNATURE = 0x02_01_4b_50;
const LOCAL_SIGNATURE = 0x04_03_4b_50;
const END_BYTES = 22;
const MEMBER_BYTES = 46;
const LOCAL_BYTES = 30;
/** The longest comment of an archive. The end of the directory is searched before it. */
const MAX_COMMENT_BYTES = 65_535;
const MAX_MEMBERS = 10_000;
const MAX_DIRECTORY_BYTES = 2_097_152;

/**
 * Reads the directory at the end of an archive, as programs do. Null if there is none, if it is larger than that of any document, or if
 * another program may read another directory, so that the content is uncertain.
 */
export async function readZipMembers(source: ByteSource): Promise<readonly ZipMember[] | null> {
  const tailBytes = Math.min(source.size, END_BYTES + MAX_COMMENT_BYTES);
  const tail = await source.read(source.size - tailBytes, tailBytes);
  const end = findEnd(tail);
  if (end < 0) return null;
  const [count, bytes, start] = [
    tail.readUInt16LE(end + 10),
    tail.readUInt32LE(end + 12),
    tail.readUInt32LE(end + 16),
  ];
  // Some programs find the directory by the offset at the end of the archive, others look directly before the end. Both must agree.
  const isBeforeEnd = start + bytes === source.size - tailBytes + end;
  if (count > MAX_MEMBERS || bytes > MAX_DIRECTORY_BYTES || !isBeforeEnd) return null;
  return parseDirectory(await source.read(start, bytes), count);
}

function findEnd(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1)
    if (
      tail.readUInt32LE(at) === END_SIGNATURE &&
      at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length
    )
      return at;
  return -1;
}

function parseDirectory(directory: Buffer, count: number): readonly ZipMember[] | null {
  const members: ZipMember[] = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + MEMBER_BYTES > directory.length || directory.readUInt32LE(at) !== MEMBER_SIGNATURE) return null;
    const nameBytes = directory.readUInt16LE(at + 28);
    members.push({
      name: directory.toString("utf8", at + MEMBER_BYTES, at + MEMBER_BYTES + nameBytes),
      packedBytes: directory.readUInt32LE(at + 20),
      isDeflated: directory.readUInt16LE(at + 10) === 8,
      offset: directory.readUInt32LE(at + 42),
    });
    at += MEMBER_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  // If the directory goes on after the counted members, another program may read more members.
  return at === directory.length ? members : null;
}

/** Reads the content of a small member; null if it is larger than `maxBytes`, or broken. */
export async function readZipMember(
  source: ByteSource,
  member: ZipMember,
  maxBytes: number,
): Promise<Buffer | null> {
  if (member.packedBytes > maxBytes) return null;
  const head = await source.read(member.offset, LOCAL_BYTES);
  if (head.length < LOCAL_BYTES || head.readUInt32LE(0) !== LOCAL_SIGNATURE) return null;
  const start = member.offset + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28);
  const packed = await source.read(start, member.packedBytes);
  if (packed.length < member.packedBytes) return null;
  if (!member.isDeflated) return packed;
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch {
    return null;
  }
}
