import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod/v3";
import {
  compileSchema,
  type UnknownFields,
  type ValidationResult,
} from "../../src/schemas/compile-schema.ts";
import { parseDefinition } from "../../src/schemas/definition.ts";
import type { FieldDefinition } from "../../src/schemas/field-definition.ts";
import { nearMiss, plainJson, sample } from "./definition-arbitrary.ts";
import { judgeWithZod } from "./zod-reference.ts";

const unknownFields = fc.constantFrom<UnknownFields>("set-aside", "drop", "keep", "reject");

function withoutMessages(result: ValidationResult): unknown {
  if (result.ok) return { ok: true, data: result.data };
  const details = Object.entries(result.details).map(([field, { issues }]) => [
    field,
    issues.map(({ message: _message, ...issue }) => issue),
  ]);
  return { ok: false, details: Object.fromEntries(details) as unknown };
}

/** Zod 3 has no enum of booleans; those have a test of their own. */
function hasBooleanEnum(fields: Readonly<Record<string, FieldDefinition>>): boolean {
  return Object.values(fields).some((field) => {
    if (field.type === "boolean") return field.enum !== undefined;
    if (field.type === "object") return hasBooleanEnum(field.properties ?? {});
    return field.type === "array" && field.items !== undefined && hasBooleanEnum({ items: field.items });
  });
}

test("any definition passes and refuses what Zod 3 does, with the same issues and the same data in the same order", () => {
  const cases = sample
    .filter(({ definition }) => !hasBooleanEnum(definition))
    .chain(({ definition, bodies }) => fc.tuple(fc.constant(definition), nearMiss(bodies), unknownFields));
  fc.assert(
    fc.property(cases, ([definition, body, unknown]) => {
      const ours = compileSchema(parseDefinition(definition), unknown).validate(body);
      const zods = judgeWithZod(definition, unknown, body);
      expect(withoutMessages(ours)).toEqual(zods);
      const order = (result: object): string => JSON.stringify("data" in result ? result.data : null);
      expect(order(ours)).toBe(order(zods));
    }),
    { numRuns: 4000 },
  );
});

test("a single value of any JSON type is judged as Zod 3 judges it", () => {
  const cases = fc.tuple(
    sample.filter(({ definition }) => !hasBooleanEnum(definition) && Object.keys(definition).length > 0),
    plainJson,
  );
  fc.assert(
    fc.property(cases, ([{ definition }, value]) => {
      const body = Object.fromEntries(Object.keys(definition).map((name) => [name, value]));
      const ours = compileSchema(definition, "reject").validate(body);
      expect(withoutMessages(ours)).toEqual(judgeWithZod(definition, "reject", body));
    }),
    { numRuns: 1500 },
  );
});

const emailPiece = fc.constantFrom(
  ..."aZ09_'+-.@".split(""),
  "@",
  ".",
  "..",
  "com",
  "example.com",
  "@example",
  "é",
  "ſ",
  "K",
  "\n",
  " ",
  "\u2028",
  "!",
);

test("the e-mail rule agrees with Zod 3's on every text", () => {
  const zod = z.string().email();
  const ours = compileSchema({ email: { type: "string", format: "email" } }, "drop");
  const text = fc.oneof(
    fc.array(emailPiece, { maxLength: 12 }).map((pieces) => pieces.join("")),
    fc
      .tuple(fc.array(emailPiece, { maxLength: 4 }), fc.array(emailPiece, { maxLength: 4 }))
      .map(([local, domain]) => `${local.join("")}@${domain.join("")}.com`),
    fc.string({ unit: "binary" }),
    fc.emailAddress(),
  );
  fc.assert(
    fc.property(text, (email) => {
      expect(ours.validate({ email }).ok).toBe(zod.safeParse(email).success);
    }),
    { numRuns: 30_000 },
  );
});

test("every e-mail of up to five characters from each class is judged as Zod 3 judges it", () => {
  const zod = z.string().email();
  const ours = compileSchema({ email: { type: "string", format: "email" } }, "drop");
  const letters = "a1-.'@_".split("");
  const disagreements: string[] = [];
  let texts = [""];
  for (let length = 1; length <= 5; length += 1) {
    texts = texts.flatMap((text) => letters.map((letter) => text + letter));
    for (const text of texts) {
      for (const email of [text, `${text}.co`, `a@${text}.co`, `${text}@a.co`]) {
        if (ours.validate({ email }).ok !== zod.safeParse(email).success) disagreements.push(email);
      }
    }
  }
  expect(disagreements).toEqual([]);
});

test("a url passes if Zod 3's url passes and its scheme is http or https", () => {
  const zod = z.string().url();
  const ours = compileSchema({ url: { type: "string", format: "url" } }, "drop");
  const piece = fc.constantFrom(
    ..."ht tp:s/\\?#[]@%0\n\té.".split(""),
    "http:",
    "https://",
    "//",
    "example.com",
    "javascript:",
    "ftp://",
    "[::1]",
    ":80",
    "xn--",
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
    fc.array(piece, { maxLength: 6 }).map((pieces) => `https://${pieces.join("")}`),
    fc.webUrl(),
    fc.string(),
  );
  fc.assert(
    fc.property(text, (url) => {
      const passes = zod.safeParse(url).success && ["http:", "https:"].includes(new URL(url).protocol);
      expect(ours.validate({ url }).ok).toBe(passes);
    }),
    { numRuns: 10_000 },
  );
});
