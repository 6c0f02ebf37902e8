import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderDocs } from "../../scripts/generate-docs.ts";
import { renderMigrations } from "../../scripts/embed-migrations.ts";
import { configSchema, defaultConfig } from "../../src/config/config.ts";
import { ERROR_TABLE } from "../../src/foundation/errors.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** JSON is laid out by the formatter; what counts is what it says. */
const comparable = (path: string, content: string): unknown =>
  path.endsWith(".json") ? JSON.parse(content) : content;

test("every page made from the code says what the code says; npm run fix renews them", async () => {
  for (const [path, content] of Object.entries(await renderDocs()))
    expect(comparable(path, read(path)), path).toEqual(comparable(path, content));
});

test("the module that carries the migrations is made from the files as they are", () => {
  expect(read("src/database/migrations.generated.ts")).toBe(renderMigrations());
});

test("the errors page has every code of the table with its status, exit code and sentence", () => {
  const page = read("docs/errors.md");
  for (const [code, [status, error, exitCode]] of Object.entries(ERROR_TABLE))
    expect(page).toContain(`| \`${code}\` | ${status} | \`${error}\` | ${exitCode} |`);
});

test("the defaults, which the example file holds, are a valid configuration", () => {
  expect(configSchema.parse(defaultConfig)).toEqual(defaultConfig);
});
