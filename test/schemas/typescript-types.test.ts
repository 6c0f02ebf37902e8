import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { FormSchema } from "../../src/schemas/json-schema.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { typescriptTypes } from "../../src/schemas/typescript-types.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sample } from "./definition-arbitrary.ts";

const tsc = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");

/** What the compiler says of the files, by name. */
function compile(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  const options = { strict: true, noEmit: true, target: "es2022", types: [], module: "preserve" };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return spawnSync(process.execPath, [tsc, "-p", folder], { cwd: folder, encoding: "utf8" }).stdout;
}

const form = (fields: SchemaDefinition, more: Partial<FormSchema> = {}): FormSchema => ({
  name: "Order form 2",
  version: 3,
  fields,
  unknownFields: "drop",
  ...more,
});

test("the types say what may be sent and what is stored, in TypeScript that a person can read", () => {
  const fields: SchemaDefinition = {
    name: { type: "string", required: true, description: "Your name" },
    topic: { type: "string", enum: ["sales", "support"], default: "support" },
    guests: { type: "number" },
    "e-mail": { type: "string", required: true },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    address: { type: "object", required: true, properties: { city: { type: "string", required: true } } },
    anything: { type: "object" },
  };
  const text = typescriptTypes(form(fields));
  expect(text).toContain("the form Order form 2, version 3 of its schema");
  expect(text).toContain(
    [
      "export interface OrderForm2Input {",
      "  /** Your name */",
      "  name: string;",
      '  topic?: "sales" | "support";',
      "  guests?: number;",
      '  "e-mail": string;',
      '  tags?: ("a" | "b")[];',
      "  address: {",
      "    city: string;",
      "  };",
      "  anything?: { [name: string]: unknown };",
      "}",
    ].join("\n"),
  );
  const stored = text.slice(text.indexOf("OrderForm2Data"));
  expect(stored).toContain('  topic: "sales" | "support";');
  expect(stored).toContain("  guests?: number;");
});

test("the compiler takes every body that the form takes, and what is stored of it", () => {
  const files: Record<string, string> = {};
  for (const [index, { definition, bodies }] of fc.sample(sample, { numRuns: 60, seed: 7 }).entries()) {
    const schema = form(definition, { name: "Form" });
    const uses = bodies.flatMap((body, at) => {
      const result = compileSchema(definition, "drop").validate(body);
      if (!result.ok) throw new Error("the sample does not fit");
      return [
        `export const sent${at}: FormInput = ${JSON.stringify(body)};`,
        `export const stored${at}: FormData = ${JSON.stringify(result.data)};`,
      ];
    });
    files[`form${index}.ts`] = `${typescriptTypes(schema)}\n${uses.join("\n")}\n`;
  }
  expect(compile(files)).toBe("");
});

test("a field that is missing, misspelt or of another type does not compile", () => {
  const types = typescriptTypes(
    form({ name: { type: "string", required: true }, size: { type: "number", default: 1 } }),
  );
  const keeping = typescriptTypes(form({ name: { type: "string" } }, { unknownFields: "keep" }));
  const said = compile({
    "good.ts": `${types}\nexport const data: OrderForm2Input = { name: "Ana" };\n`,
    "kept.ts": `${keeping}\nexport const data: OrderForm2Input = { colour: "red" };\n`,
    "missing.ts": `${types}\nexport const data: OrderForm2Input = { size: 1 };\n`,
    "misspelt.ts": `${types}\nexport const data: OrderForm2Input = { name: "Ana", colour: "red" };\n`,
    "stored.ts": `${types}\nexport const data: OrderForm2Data = { name: "Ana" };\n`,
  });
  expect(said.match(/^\w+\.ts|TS\d+/gm)).toEqual([
    "missing.ts",
    "TS2741",
    "misspelt.ts",
    "TS2353",
    "stored.ts",
    "TS2741",
  ]);
});

test("names and descriptions of strangers stay names and comments", () => {
  const hostile = "*/ export const owned = 1; /*\n\u2028 // \u202e evil `${x}` \\";
  const fields: SchemaDefinition = {
    [hostile]: { type: "string", description: hostile, enum: [hostile, "\u0000\u202e"] },
    'a"b': { type: "number", enum: [-1, 1e21] },
    class: { type: "string", description: "*/*/" },
  };
  const names = [hostile, "", "2nd form", "Küche", "…", "漢字", "a-b_c$"];
  const texts = names.map((name) => typescriptTypes(form(fields, { name })));
  expect(compile(Object.fromEntries(texts.map((text, index) => [`form${index}.ts`, text])))).toBe("");
  for (const text of texts) {
    expect(text).not.toMatch(/^export const owned/m);
    expect(text).not.toMatch(/[\u0000\u202e\u2028]/);
    expect(text.match(/^export interface \S+(?:Input|Data) \{$/gm)).toHaveLength(2);
  }
});
