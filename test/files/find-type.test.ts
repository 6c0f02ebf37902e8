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
