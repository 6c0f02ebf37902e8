import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { renderDocs } from "../../scripts/generate-docs.ts";
import {
  renderMigrations,
  renderPostgresqlMigrations,
  renderRowTypes,
  renderSchema,
} from "../../scripts/embed-migrations.ts";
import { createProgram } from "../../src/cli/program.ts";
import { checkServerConfig } from "../../src/config/check-server-config.ts";
import { configSchema, defaultConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { ERROR_TABLE } from "../../src/foundation/errors.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { listFiles, readText } from "./repository.ts";
import { findMentions, findUnknownCommands } from "./mentioned-commands.ts";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** The formatter may lay out JSON in another way, so only its content is compared. */
const comparable = (path: string, content: string): unknown =>
  path.endsWith(".json") ? JSON.parse(content) : content;

test("every page made from the code says what the code says; npm run fix renews them", async () => {
  for (const [path, content] of Object.entries(await renderDocs()))
    expect(comparable(path, read(path)), path).toEqual(comparable(path, content));
});

test("the modules that carry the migrations are made from the files as they are, and both engines end with the same number", () => {
  expect(read("src/database/migrations.generated.ts")).toBe(renderMigrations());
  expect(read("src/database/postgresql/migrations.generated.ts")).toBe(renderPostgresqlMigrations());
});

test("migrations/schema.sql and the row types show the tables that the migrations make, each with what it holds; npm run fix renews them", () => {
  expect(read("migrations/schema.sql")).toBe(renderSchema());
  expect(read("src/database/tables.generated.ts")).toBe(renderRowTypes());
});

test("the errors page has every code of the table with its status, exit code and sentence", () => {
  const page = read("docs/errors.md");
  for (const [code, { status, error, exitCode }] of Object.entries(ERROR_TABLE))
    expect(page).toContain(`| \`${code}\` | ${status} | \`${error}\` | ${exitCode} |`);
});

test("the defaults, which the example file holds, are a valid configuration", () => {
  expect(configSchema.parse(defaultConfig)).toEqual(defaultConfig);
});

test("every configuration that a page shows is a whole file that the server takes", () => {
  const shown = [
    "docs/install.md",
    "docs/reverse-proxies.md",
    "docs/backup.md",
    "docs/monitoring.md",
    "docs/dashboard.md",
    "docs/sign-in.md",
  ].flatMap((path) =>
    [...read(path).matchAll(/^ *```json\n([^]*?)^ *```$/gm)].map(([, text = ""]) => ({ path, text })),
  );
  const [, inReadme = ""] = /formsvc\.config\.json <<'JSON'\n([^]*?)JSON$/m.exec(read("README.md")) ?? [];
  expect(shown.length).toBeGreaterThanOrEqual(6);
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  for (const { path, text } of [...shown, { path: "README.md", text: inReadme }]) {
    const file = join(folder.path, "formsvc.config.json");
    writeFileSync(file, text);
    expect(() => checkServerConfig(loadConfig(file, {}).config), path).not.toThrow();
    expect(loadConfig(file, {}).config, path).not.toEqual(defaultConfig);
  }
});

test("every command that a page, a message or a script mentions exists, with its flags", async () => {
  const program = await createProgram(undefined);
  const files = listFiles()
    .filter((path) => /^(?:src|scripts|docs)\/.*\.(?:ts|sh|md)$|^README\.md$/.test(path))
    .map(readText);
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((file) => findUnknownCommands(program, file))).toEqual([]);
  for (const text of [
    "see: formsvc endpoint lst",
    "`formsvc endpiont list`",
    "formsvc serve --prot 80",
    "$F; ./dist/formsvc submission tail --folow",
    "<code>formsvc schema chek</code>",
  ]) {
    expect(findUnknownCommands(program, { path: "a.md", text })).toHaveLength(1);
  }
  const good =
    "a formsvc is a program; formsvc help endpoint, `formsvc --help`: formsvc endpoint, formsvc serve --port 80";
  expect(findUnknownCommands(program, { path: "a.md", text: good })).toEqual([]);
});

/** The files that put facts into words for the terminal and for pages. */
const MAY_NAME_COMMANDS = /^src\/(?:cli|dashboard)\/|\.generated\.ts$/;

/** A command that is data: receivers of test messages see it as the user agent. */
const NAMED_AS_DATA = 'src/webhooks/send-test.ts: formsvc webhook test",';

test("only the command line names commands: the features leave hints, which a page says in its own words", async () => {
  const program = await createProgram(undefined);
  const files = listFiles().filter((path) => path.startsWith("src/") && !MAY_NAME_COMMANDS.test(path));
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap((path) => findMentions(program, readText(path)))).toEqual([NAMED_AS_DATA]);
  const planted = { path: "src/keys/a.ts", text: 'const advice = "see: formsvc key list";' };
  expect(findMentions(program, planted)).toEqual(['src/keys/a.ts: formsvc key list"']);
  expect(MAY_NAME_COMMANDS.test(planted.path)).toBe(false);
  const passed = '/** For `formsvc key list`. */\nconst text = "a formsvc database";\n// formsvc key list';
  expect(findMentions(program, { path: "src/keys/a.ts", text: passed })).toEqual([]);
});

/** The largest length of one promise, in characters. A longer promise is two promises. */
const MAX_PROMISE_LENGTH = 185;

/** Finds the rows of a page's tables whose first cell is longer than a sentence may be. */
function findLongPromises(page: string): string[] {
  const promises = page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2).split(" | ")[0] ?? "");
  return promises.filter((promise) => promise.length > MAX_PROMISE_LENGTH);
}

test("a row of the promises holds one promise, no paragraph", () => {
  const page = read("docs/guarantees.md");
  expect(page.split("\n").filter((line) => line.startsWith("| ")).length).toBeGreaterThan(80);
  expect(findLongPromises(page)).toEqual([]);
  const long = "A promise and another one. ".repeat(8).trim();
  expect(findLongPromises(`| promise | tested by |\n|---|---|\n| ${long} | a test |\n| short | b |`)).toEqual(
    [long],
  );
});
