import { expect, test } from "vitest";
import { findType } from "../../src/files/find-type.ts";
import type { FileField } from "../../src/schemas/field-definition.ts";
import { docx, pdf, PNG, zip } from "../support/uploads.ts";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

function typeOf(name: string, bytes: Buffer | string, accept?: readonly string[]): Promise<string | null> {
  const content = Buffer.from(bytes);
  const source = {
    size: content.length,
    read: async (offset: number, length: number) => content.subarray(offset, offset + length),
  };
  const field: FileField = accept === undefined ? { type: "file" } : { type: "file", accept };
  return findType(name, source, field);
}

test("a field without `accept` takes documents without macros, pictures, text and tables", async () => {
  expect(await typeOf("cv.pdf", pdf())).toBe("application/pdf");
  expect(await typeOf("CV.PDF", pdf())).toBe("application/pdf");
  expect(await typeOf("cv.docx", docx())).toBe(DOCX);
  expect(await typeOf("me.png", PNG)).toBe("image/png");
  expect(await typeOf("photo", PNG)).toBe("image/png");
  const heic = Buffer.from("0000001866747970686569630000000068656963", "hex");
  expect(await typeOf("IMG_0042.HEIC", Buffer.concat([heic, Buffer.alloc(64)]))).toBe("image/heic");
  expect(await typeOf("notes.txt", "Grüße")).toBe("text/plain");
  expect(await typeOf("list.csv", "a;b\n1;2\n")).toBe("text/csv");
  const odt = zip({ mimetype: "application/vnd.oasis.opendocument.text", "content.xml": "<a/>" });
  expect(await typeOf("letter.odt", odt)).toBe("application/vnd.oasis.opendocument.text");
});

test("a text that begins like a picture, a program or a sound is a text by its name, and by no other name", async () => {
  const letter = " Werke, guten Tag! ".repeat(50);
  for (const begin of ["BMW", "MZ", "FORMULAR", "solid", "ID3", "MThd", "GIF8"])
    expect([
      begin,
      await typeOf("letter.txt", begin + letter),
      await typeOf("a.bmp", begin + letter),
    ]).toEqual([begin, "text/plain", begin === "BMW" ? "image/bmp" : null]);
  expect(await typeOf("a.txt", `MZ\0${letter}`)).toBeNull();
  for (const begin of ["%PDF-1.7", "{\\rtf1", "<?xml?>", "%!PS"])
    expect([begin, await typeOf("letter.txt", begin + letter)]).toEqual([begin, null]);
});

test("an invitation and a business card are texts too", async () => {
  const accept = [".ics", ".vcf"];
  const [invitation, card] = ["BEGIN:VCALENDAR\nVERSION:2.0\n", "BEGIN:VCARD\nVERSION:3.0\n"];
  expect(await typeOf("a.ics", invitation, accept)).toBe("text/calendar");
  expect(await typeOf("a.vcf", card, accept)).toBe("text/vcard");
  expect(await typeOf("a.ics", `${invitation}\0`, accept)).toBeNull();
  expect(await typeOf("a.vcf", Buffer.concat([Buffer.from(card), Buffer.from([0xff])]), accept)).toBeNull();
});

test("a file whose name says something else than its content is refused", async () => {
  expect(await typeOf("cv.docx", pdf())).toBeNull();
  expect(await typeOf("me.jpg", PNG)).toBeNull();
  expect(await typeOf("cv.pdf", "Hello")).toBeNull();
  expect(await typeOf("cv.pdf", "MZ" + "\0".repeat(200))).toBeNull();
  expect(await typeOf("cv.txt", pdf())).toBeNull();
  expect(await typeOf("cv.xlsx", docx())).toBeNull();
  expect(await typeOf("data.bin", Buffer.from([1, 2, 3, 4]))).toBeNull();
  expect(await typeOf("", "Hello")).toBeNull();
});

test("pages, markup, scripts and programs are never let in, whatever `accept` says", async () => {
  const accept = ["text/*", "image/*", ".pdf", ".zip"];
  for (const name of [
    "a.html",
    "a.svg",
    "a.xml",
    "a.js",
    "a.exe",
    "a.sh",
    "a.lnk",
    "a.iso",
    "a.msi",
    "a.docm",
    "a.hta",
  ])
    expect([name, await typeOf(name, "Hello", accept), await typeOf(name, PNG, accept)]).toEqual([
      name,
      null,
      null,
    ]);
  expect(await typeOf("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>', accept)).toBeNull();
  expect(await typeOf("a.png", '<svg xmlns="http://www.w3.org/2000/svg"/>', accept)).toBeNull();
  expect(await typeOf("a.txt", "\n <script>alert(1)</script>", accept)).toBeNull();
  expect(await typeOf("a.txt", "\uFEFF<html>", accept)).toBeNull();
  expect(await typeOf("a.txt", "#!/bin/sh\nrm -rf /", accept)).toBeNull();
  expect(await typeOf("a.txt", "\u007FELF" + "\0".repeat(100), accept)).toBeNull();
});

test("text is UTF-8 without NUL to its last byte", async () => {
  const long = "ä".repeat(200_000);
  expect(await typeOf("a.txt", long)).toBe("text/plain");
  expect(await typeOf("a.txt", `${long}\0`)).toBeNull();
  expect(await typeOf("a.txt", Buffer.concat([Buffer.from(long), Buffer.from([0xc3])]))).toBeNull();
  expect(await typeOf("a.txt", Buffer.from("Grüße", "latin1"))).toBeNull();
  expect(await typeOf("a.txt", Buffer.from("Hello", "utf16le"))).toBeNull();
});

test("a document with macros is refused, wherever they are and whatever their part is called", async () => {
  const macros = "application/vnd.ms-word.document.macroEnabled.main+xml";
  expect(await typeOf("cv.docx", docx({ "word/vbaProject.bin": "x" }))).toBeNull();
  expect(await typeOf("cv.docx", docx({}, macros))).toBeNull();
  expect(
    await typeOf("cv.docx", docx({ "word/a.bin": "x" }, "application/vnd.ms-office.vbaProject")),
  ).toBeNull();
  const hidden = zip({
    "word/document.xml": "<a/>",
    "[Content_Types].xml": Buffer.from(
      '<Types ContentType="application/vnd.ms-office.vbaProject"/>',
      "utf16le",
    ).toString("latin1"),
  });
  expect(await typeOf("cv.docx", hidden)).toBeNull();
  for (const type of [
    "application/vnd.ms-excel.macrosheet+xml",
    "application/vnd.ms-office.&#118;baProject",
    '"/><!DOCTYPE a [<!ENTITY b "v">]><Default ContentType="&b;baProject',
  ])
    expect([type, await typeOf("cv.docx", docx({ "word/a.bin": "x" }, type))]).toEqual([type, null]);
  expect(await typeOf("cv.docx", docx({ "xl/macrosheets/sheet1.xml": "x" }))).toBeNull();
  const odt = { mimetype: "application/vnd.oasis.opendocument.text", "content.xml": "<a/>" };
  expect(await typeOf("letter.odt", zip({ ...odt, "Basic/Standard/Module1.xml": "x" }))).toBeNull();
});

test("archives are let in only if the field names them, and only as what they are", async () => {
  const archive = zip({ "a.txt": "a" });
  expect(await typeOf("a.zip", archive)).toBeNull();
  expect(await typeOf("a.zip", archive, [".zip"])).toBe("application/zip");
  expect(await typeOf("a.docx", archive, [".docx"])).toBeNull();
  expect(await typeOf("a.zip", docx(), [".zip"])).toBeNull();
});

test("a document of the format before 2007 is known by its directory, and refused with macros in it", async () => {
  const entry = (name: string): Buffer => {
    const bytes = Buffer.alloc(128);
    bytes.write(`${name}\0`, 0, "utf16le");
    bytes.writeUInt16LE((name.length + 1) * 2, 64);
    return bytes;
  };
  const old = (...names: readonly string[]): Buffer => {
    const head = Buffer.alloc(512);
    Buffer.from("d0cf11e0a1b11ae1", "hex").copy(head);
    head.writeUInt16LE(0x3e, 24);
    head.writeUInt16LE(3, 26);
    head.writeUInt16LE(0xff_fe, 28);
    head.writeUInt16LE(9, 30);
    const entries = Buffer.concat([...names.map(entry), Buffer.alloc(1024)]);
    return Buffer.concat([head, entries]);
  };
  expect(await typeOf("cv.doc", old("Root Entry", "WordDocument"))).toBe("application/msword");
  expect(await typeOf("cv.xls", old("Root Entry", "WordDocument"))).toBeNull();
  expect(await typeOf("cv.doc", old("Root Entry", "WordDocument", "Macros", "VBA"))).toBeNull();
  expect(await typeOf("setup.doc", old("Root Entry", "\u4840\u3b3f"))).toBeNull();
});

const END_OF_CHAIN = 0xff_ff_ff_fe;
const WORKBOOK_BYTES = 8192;
const bof = record(0x08_09, "0006050000000000");
const [sheet, hidden, macros, module] = ["0000", "0200", "0001", "0006"].map((kind) =>
  record(0x85, `00000000${kind}0100`, "A"),
);
const eof = record(0x0a, "");

function record(kind: number, hex: string, text = ""): Buffer {
  const content = Buffer.concat([Buffer.from(hex, "hex"), Buffer.from(text)]);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(kind, 0);
  head.writeUInt16LE(content.length, 2);
  return Buffer.concat([head, content]);
}

/**
 * A workbook of Excel before 2007: header, table of chains, the list of its sectors that the header has no room for, directory, and the records in
 * sectors, of which the last lies first if they are turned.
 */
function xls(
  records: readonly (Buffer | undefined)[],
  { name = "Workbook", turned = false, size = WORKBOOK_BYTES } = {},
) {
  const content = Buffer.alloc(Math.ceil(size / 512) * 512);
  Buffer.concat(records.map((each) => each ?? Buffer.alloc(0))).copy(content);
  const sectors = content.length / 512;
  const tables = Math.ceil((sectors * 1.02 + 2) / 128);
  const lists = Math.ceil(Math.max(0, tables - 109) / 127);
  const first = tables + lists + 1;
  const place = (index: number) => first + (turned ? sectors - 1 - index : index);
  const [head, table, list] = [
    Buffer.alloc(512),
    Buffer.alloc(tables * 512, 0xff),
    Buffer.alloc(lists * 512, 0xff),
  ];
  const directory = Buffer.alloc(512);
  Buffer.from("d0cf11e0a1b11ae1", "hex").copy(head);
  for (const [at, value] of [
    [24, 0x3e],
    [26, 3],
    [28, 0xff_fe],
    [30, 9],
    [32, 6],
  ] as const)
    head.writeUInt16LE(value, at);
  head.fill(0xff, 76);
  for (const [at, value] of [
    [44, tables],
    [48, first - 1],
    [56, 4096],
    [60, END_OF_CHAIN],
    [68, lists === 0 ? END_OF_CHAIN : tables],
    [72, lists],
  ] as const)
    head.writeUInt32LE(value, at);
  for (let each = 0; each < tables; each += 1)
    if (each < 109) head.writeUInt32LE(each, 76 + each * 4);
    else list.writeUInt32LE(each, (each - 109 + Math.floor((each - 109) / 127)) * 4);
  for (let each = 1; each <= lists; each += 1)
    list.writeUInt32LE(each < lists ? tables + each : END_OF_CHAIN, each * 512 - 4);
  table.writeUInt32LE(END_OF_CHAIN, (first - 1) * 4);
  const data = Buffer.alloc(content.length);
  for (let index = 0; index < sectors; index += 1) {
    content.copy(data, (place(index) - first) * 512, index * 512, (index + 1) * 512);
    table.writeUInt32LE(index + 1 < sectors ? place(index + 1) : END_OF_CHAIN, place(index) * 4);
  }
  for (const [at, entry] of ["Root Entry", name].entries()) {
    directory.write(`${entry}\0`, at * 128, "utf16le");
    directory.writeUInt16LE((entry.length + 1) * 2, at * 128 + 64);
    directory.writeUInt8(at === 0 ? 5 : 2, at * 128 + 66);
    directory.writeUInt32LE(at === 0 ? END_OF_CHAIN : place(0), at * 128 + 116);
    directory.writeUInt32LE(at === 0 ? 0 : size, at * 128 + 120);
  }
  return Buffer.concat([head, table, list, directory, data]);
}

test("a workbook of the format before 2007 is refused with macros in its sheets, wherever its parts lie, or if nobody can tell", async () => {
  const EXCEL = "application/vnd.ms-excel";
  // The kind of a sheet lies at the end of one sector, or in the next one.
  const fill = record(0x5c, "20".repeat(480));
  const types = async (...records: (Buffer | undefined)[]) =>
    [
      await typeOf("a.xls", xls(records)),
      await typeOf("a.xls", xls(records, { name: "Book" })),
      await typeOf("a.xls", xls(records, { turned: true })),
    ].map((type) => type === EXCEL);
  const [yes, no] = [
    [true, true, true],
    [false, false, false],
  ];
  expect(await types(bof, sheet, hidden, eof)).toEqual(yes);
  expect(await types(bof, fill, sheet, fill, sheet, eof)).toEqual(yes);
  for (const bad of [macros, module, record(0x2f, "0000")]) {
    expect(await types(bof, sheet, bad, eof)).toEqual(no);
    expect(await types(bof, fill, sheet, bad, eof)).toEqual(no);
  }
  for (let length = 484; length < 500; length += 1)
    expect([length, await types(bof, record(0x5c, "20".repeat(length)), macros, eof)]).toEqual([length, no]);
  // What comes after the end of the first part is no list of sheets.
  expect(await types(bof, sheet, eof, macros)).toEqual(yes);
  expect(await types(sheet, eof)).toEqual(no);
  expect(await types(bof, sheet, bof, eof)).toEqual(no);
  expect(await types(bof, sheet)).toEqual(no);
  // The table of a large one has more sectors than the header names.
  const many = Array.from({ length: 1000 }, () => record(0xfc, "20".repeat(8000)));
  for (const turned of [false, true]) {
    const large = (last: Buffer | undefined) => xls([bof, ...many, last, eof], { size: 9_000_000, turned });
    expect(await typeOf("a.xls", large(sheet))).toBe(EXCEL);
    expect(await typeOf("a.xls", large(macros))).toBeNull();
  }
});

test("a workbook whose chains lead nowhere, or in a circle, is refused", async () => {
  const records = [bof, ...Array.from({ length: 30 }, () => record(0x5c, "20".repeat(480))), eof];
  const whole = () => xls([bof, sheet, eof]);
  const broken = (change: (bytes: Buffer) => void, from = whole()) => {
    change(from);
    return typeOf("a.xls", from);
  };
  expect(await broken(() => {})).toBe("application/vnd.ms-excel");
  expect(await broken((bytes) => bytes.writeUInt32LE(1, 512 + 4))).toBeNull();
  expect(await broken((bytes) => bytes.writeUInt32LE(2, 512 + 8), xls(records))).toBeNull();
  expect(await broken((bytes) => bytes.writeUInt32LE(999_999, 512 + 8), xls(records))).toBeNull();
  expect(await broken((bytes) => bytes.writeUInt32LE(0xff_ff_ff_ff, 76))).toBeNull();
  const lists = (bytes: Buffer): void => void [68, 2044].map((at) => bytes.writeUInt32LE(2, at));
  expect(await broken(lists)).toBeNull();
  expect(await broken((bytes) => bytes.writeUInt16LE(31, 30))).toBeNull();
  expect(await typeOf("a.xls", whole().subarray(0, 1300))).toBeNull();
  expect(await typeOf("a.xls", xls([bof, sheet, eof], { size: 4095 }))).toBeNull();
});

test("a broken or hostile archive is no document", async () => {
  const whole = docx();
  for (const bytes of [
    whole.subarray(0, whole.length - 10),
    Buffer.concat([whole, Buffer.from("PK")]),
    Buffer.concat([Buffer.from("PK\u0003\u0004"), Buffer.alloc(5000, 0x41)]),
  ])
    expect(await typeOf("cv.docx", bytes)).toBeNull();
  // A directory that says it has more than it has, or that lies at another place.
  const lying = Buffer.from(whole);
  lying.writeUInt16LE(9999, lying.length - 12);
  expect(await typeOf("cv.docx", lying)).toBeNull();
  // Two lists of parts, of which another program may read the other one.
  const lists = { "[Content_Types].xml": "<Types/>", "[CONTENT_TYPES].xml": "<Types/>" };
  expect(await typeOf("cv.docx", zip({ ...lists, "word/document.xml": "<a/>" }))).toBeNull();
  // Two directories: one where the end says, one right before it.
  const bad = docx({ "word/vbaProject.bin": "x" });
  const end = Buffer.from(whole.subarray(whole.length - 22));
  expect(
    await typeOf("cv.docx", Buffer.concat([whole.subarray(0, -22), bad.subarray(0, -22), end])),
  ).toBeNull();
  // A list of parts that grows beyond any document's.
  const bomb = zip({ "[Content_Types].xml": "a".repeat(20_000_000), "word/document.xml": "<a/>" });
  expect(await typeOf("cv.docx", bomb)).toBeNull();
});
