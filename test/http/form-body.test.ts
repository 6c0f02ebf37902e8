import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readFormBody } from "../../src/http/posts/form-body.ts";

const TYPE = 'multipart/form-data; boundary="b"';

test("whatever a multipart body holds, reading it ends, and with nothing but text", async () => {
  const piece = fc.constantFrom(
    "--b\r\n",
    "--b--",
    "--b--\r\n",
    "--",
    "\r\n",
    "\r\n\r\n",
    "\n",
    'Content-Disposition: form-data; name="a"\r\n\r\n',
    'Content-Disposition: form-data; name="f"; filename="x.txt"\r\n\r\n',
    'Content-Disposition: form-data; name="f"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n',
    "Content-Disposition: form-data\r\n\r\n",
    "Content-Disposition: attachment; name=a\r\n\r\n",
    "Content-Disposition: form-data; name*=utf-8''%ff\r\n\r\n",
    "Content-Type: text/plain; charset=utf-16le\r\n",
    "Content-Type: multipart/mixed; boundary=c\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "x".repeat(5000),
    "value",
    "\0",
    "é",
  );
  const body = fc.array(fc.oneof({ weight: 9, arbitrary: piece }, fc.string()), { maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (pieces, wellBegun) => {
      const bytes = Buffer.from((wellBegun ? "--b\r\n" : "") + pieces.join(""));
      const { entries } = await readFormBody(TYPE, bytes);
      for (const entry of entries) expect(entry.map((text) => typeof text)).toEqual(["string", "string"]);
      expect(entries.flat().filter((text) => !text.isWellFormed())).toEqual([]);
    }),
    { numRuns: 3000 },
  );
});

test("a part in UTF-16 with half a character is mended", async () => {
  const half = Buffer.from([0x00, 0xd8, 0x41, 0x00]);
  const begin =
    '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=utf16le\r\n\r\n';
  const { entries } = await readFormBody(
    TYPE,
    Buffer.concat([Buffer.from(begin), half, Buffer.from("\r\n--b--\r\n")]),
  );
  expect(entries).toEqual([["a", "\uFFFDA"]]);
});

test("a body cut anywhere is read to its end or refused, never waited for", async () => {
  const whole = Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n' +
      '--b\r\nContent-Disposition: form-data; name="f"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n' +
      '--b\r\nContent-Disposition: form-data; name="z"\r\n\r\nlast\r\n--b--\r\n',
  );
  for (let length = 0; length <= whole.length; length += 1) {
    const { entries, problem } = await readFormBody(TYPE, whole.subarray(0, length));
    // The last line break may be missing, the rest of the end may not.
    if (problem === null)
      expect(entries).toEqual([
        ["a", "one"],
        ["z", "last"],
      ]);
    else expect(length).toBeLessThan(whole.length - 2);
  }
});

const text = 'Content-Disposition: form-data; name="a"\r\n\r\none\r\n';
const nameless: readonly (readonly [string, string])[] = [
  ["no header", "\r\nlost"],
  ["no Content-Disposition", "Content-Type: text/plain\r\n\r\nlost"],
  ["no name", "Content-Disposition: form-data\r\n\r\nlost"],
  ["a name that is too long", `Content-Disposition: form-data; name="${"n".repeat(4100)}"\r\n\r\nlost`],
  [
    "a name of a file that is cut",
    `Content-Disposition: form-data; name="${"n".repeat(9000)}"; filename="a.txt"\r\n\r\nlost`,
  ],
  ["another disposition", 'Content-Disposition: attachment; name="b"; filename="b.txt"\r\n\r\nlost'],
  [
    "too many headers before its name",
    `${"X: y\r\n".repeat(30)}Content-Disposition: form-data; name="b"\r\n\r\nlost`,
  ],
  ["a line break in its name", "Content-Disposition: form-data; name*=utf-8''b%0Ac\r\n\r\nlost"],
  [
    "a line break in its file's name",
    "Content-Disposition: form-data; name=\"b\"; filename*=utf-8''b%0D%0A.txt\r\n\r\nlost",
  ],
];

test.each(nameless)(
  "a body with a part that has %s is refused, because what it holds would be lost unseen",
  async (_, part) => {
    for (const parts of [[part], [text, part], [part, text]]) {
      const body = `${parts.map((each) => `--b\r\n${each}\r\n`).join("")}--b--\r\n`;
      const { problem } = await readFormBody(TYPE, Buffer.from(body));
      expect(problem).toMatchObject({ code: "invalid_request", facts: { details: { body: "malformed" } } });
    }
  },
);

test("a type without a boundary is refused", async () => {
  const { problem } = await readFormBody("multipart/form-data", Buffer.from("--b--"));
  expect(problem?.code).toBe("invalid_request");
});
