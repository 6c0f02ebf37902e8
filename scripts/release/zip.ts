import { crc32 } from "node:zlib";
import { deflate } from "./compress.ts";
import type { PackedFile } from "./packed-file.ts";

/** The earliest date that a zip archive can have, 1980-01-01, which stands for no date. */
const NO_DATE = 0x21;
const DEFLATED = 8;
const MADE_ON_UNIX = (3 << 8) | 20;
const NEEDS_VERSION = 20;

/** Makes a zip archive of a few files, each far below 4 GiB. The same files make the same bytes. */
export function packZip(files: readonly PackedFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, mode, content = Buffer.alloc(0) } of files) {
    const packed = deflate(content);
    const name = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(NEEDS_VERSION, 0);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(NO_DATE, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, name, packed]);
    const made = Buffer.alloc(2);
    made.writeUInt16LE(MADE_ON_UNIX);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((0o100_000 | mode) * 65_536, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02", "latin1"), made, common, rest, name);
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}
