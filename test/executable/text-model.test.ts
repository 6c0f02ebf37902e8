import { closeSync, openSync, readSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { brotli } from "../../scripts/release/compress.ts";
import { asAscii } from "../../scripts/smaller-script.ts";
import { LANGUAGES } from "../../src/languages/language.ts";
import { readTexts } from "../../src/languages/texts.ts";
import { TEXT_WEIGHTS } from "../../src/spam/text-model.generated.ts";
import { emptyMachine } from "../support/operator-machine.ts";
import { executable } from "../support/program.ts";

/** What the executable has behind the Node that it was made of: to search all of it for each text would take seconds. */
const program = readAppended();

function readAppended(): Buffer {
  const from = statSync(process.execPath).size;
  const appended = Buffer.alloc(statSync(executable).size - from);
  const file = openSync(executable, "r");
  readSync(file, appended, 0, appended.length, from);
  closeSync(file);
  return appended;
}

test("what is searched has the whole of what was put into Node", () => {
  expect(program.includes("NODE_SEA_BLOB")).toBe(true);
});

test("the text model lies in the executable as its weights, packed, once and not as text, and scores", async () => {
  const weights = Buffer.from(TEXT_WEIGHTS.buffer, TEXT_WEIGHTS.byteOffset, TEXT_WEIGHTS.byteLength);
  expect(weights.length).toBe(131_702);
  const packed = brotli(weights);
  expect(packed.length).toBeLessThan(100_000);
  const first = program.indexOf(packed);
  expect(first).toBeGreaterThan(0);
  expect(program.indexOf(packed, first + 1)).toBe(-1);
  expect(program.includes(weights)).toBe(false);
  expect(program.includes(weights.toString("base64").slice(0, 1000))).toBe(false);

  const input = '{"message":"cheap seo for your website, first page of google guaranteed"}';
  const scored = await emptyMachine().json<{ reasons: { signal: string }[] }>(["spam", "explain", "-"], {
    input,
  });
  expect(scored.reasons.map(({ signal }) => signal)).toContain("text");
});

test("the phrases of pitches lie packed in the executable, and are found by it", async () => {
  const input =
    '{"message":"Предлагаем вам продвижение сайта в топ, без предоплаты и с гарантией результата"}';
  const scored = await emptyMachine().json<{ reasons: { signal: string }[] }>(["spam", "explain", "-"], {
    input,
  });
  expect(scored.reasons.map(({ signal }) => signal)).toContain("pitch");
  expect(program.includes(Buffer.from("предоплаты"))).toBe(false);
});

const MOST_CATALOGUE_BYTES = 200_000;

test("the words for visitors lie packed in the executable, each of 21 languages once, in less than 200 KB together", () => {
  let bytes = 0;
  for (const language of LANGUAGES) {
    const texts = readTexts(language);
    const packed = brotli(JSON.stringify(texts));
    const first = program.indexOf(packed);
    expect(first, language).toBeGreaterThan(0);
    expect(program.indexOf(packed, first + 1), language).toBe(-1);
    // Neither as text, nor as the bundler escapes it.
    const escaped = asAscii(JSON.stringify(texts.notNow).slice(1, -1));
    for (const form of [texts.notNow, escaped])
      expect(program.includes(Buffer.from(form)), language).toBe(false);
    bytes += packed.length;
  }
  expect(bytes).toBeLessThan(MOST_CATALOGUE_BYTES);
});

test("what a server needs late or never lies packed beside its script, whose functions keep their names for traces", () => {
  // The bundler calls a module by its file.
  const has = (file: string): boolean => program.includes(`"node_modules/${file}`);
  expect(has("fastify/")).toBe(true);
  const late = [
    "@modelcontextprotocol/",
    "@simplewebauthn/",
    "openid-client/",
    "yaml/",
    "file-type/",
    "aws4fetch/",
    "prom-client/",
    "ajv/",
    "light-my-request/",
    "undici/lib/llhttp/llhttp",
    "undici/lib/milo/",
  ];
  expect(late.filter(has)).toEqual([]);
  // Once: as the program imports it, and not as an older package would require it too.
  expect(has("zod/v4/core/schemas.js")).toBe(true);
  expect(has("zod/v4/core/schemas.cjs")).toBe(false);
  expect(program.includes("function createSubmitService(")).toBe(true);
  // The dashboard's own modules; what it takes from the program is there once.
  expect(program.includes("function lateDashboard(")).toBe(true);
  expect(program.includes("function mountDashboard(")).toBe(false);
});
