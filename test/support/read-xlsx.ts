import { crc32, inflateRawSync } from "node:zlib";
import { expect } from "vitest";

/** Reads the members of a ZIP archive by its directory, and checks their sizes and checksums. */
export function unzip(archive: Buffer): ReadonlyMap<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const members = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    expect(archive.readUInt32LE(at)).toBe(0x02_01_4b_50);
    const [checksum, packed, size] = [16, 20, 24].map((offset) => archive.readUInt32LE(at + offset));
    const [name, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset));
    const local = archive.readUInt32LE(at + 42);
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const content = inflateRawSync(archive.subarray(begin, begin + packed!));
    expect([content.length, crc32(content)]).toEqual([size, checksum]);
    members.set(archive.toString("utf8", at + 46, at + 46 + name!), content);
    at += 46 + name! + extra! + comment!;
  }
  return members;
}

/** Reads the cells of a sheet as they are stored: numbers, booleans and texts; null is an empty cell. */
export function readSheet(archive: Buffer, sheet = 1): (string | number | boolean | null)[][] {
  const text = unzip(archive).get(`xl/worksheets/sheet${sheet}.xml`)?.toString("utf8") ?? "";
  const rows = [...text.matchAll(/<row r="(\d+)">(.*?)<\/row>/gs)];
  expect(rows.map(([, number]) => Number(number))).toEqual(rows.map((_, index) => index + 1));
  return rows.map(([, , content = ""]) => {
    const cells: (string | number | boolean | null)[] = [];
    for (const [, letters = "", type, value = ""] of content.matchAll(
      /<c r="([A-Z]+)\d+"(?: t="(\w+)")?(?: s="\d")?>(.*?)<\/c>/gs,
    )) {
      const place = letters.split("").reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
      while (cells.length < place) cells.push(null);
      cells.push(valueOf(type, value));
    }
    return cells;
  });
}

function valueOf(type: string | undefined, content: string): string | number | boolean {
  const text = content.replaceAll(/<[^>]+>/g, "");
  if (type === "inlineStr") {
    const plain = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
    return plain.replaceAll("_x005F_", "_");
  }
  return type === "b" ? text === "1" : Number(text);
}
