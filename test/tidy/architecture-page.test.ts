import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { listFiles, readText } from "./repository.ts";
import { ALLOWED_IMPORTS } from "./allowed-imports.ts";
import type { SourceFile } from "./source-rules.ts";

const page = readText("docs/architecture.md").text;

/** The cells of the table under a heading, without the table's head. */
function rowsUnder(text: string, heading: string): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((line) =>
    line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
}

function readImports(text: string): Record<string, readonly string[]> {
  const rows = rowsUnder(text, "Floors").map(([folder = "", , imports = ""]) => [
    folder.replaceAll("`", "").replace(/\.ts$/, ""),
    imports === "nothing of ours" ? [] : imports.split(", "),
  ]);
  return Object.fromEntries(rows) as Record<string, readonly string[]>;
}

/** The rooms of the list: in each line the words in code before the colon. */
function roomsNamed(text: string): string[] {
  const lines = text.match(/^- (?:`\w[\w-]*\/[\w-]+`(?:, )?)+: /gm) ?? [];
  return lines.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, room = ""]) => room)).toSorted();
}

/** Finds paths of the repository that a page names and that do not exist. */
function findDeadPaths({ path, text }: SourceFile): string[] {
  const named = text.match(/\b(?:src|test|scripts|migrations)\/[\w./-]*\w/g) ?? [];
  return named
    .filter((name) => !existsSync(new URL(`../../${name}`, import.meta.url)))
    .map((name) => `${path}: ${name}`);
}

test("the map shows which folder may import which as the rule has it, with the lower folders last", () => {
  const sorted = Object.entries(ALLOWED_IMPORTS).map(([from, to]) => [from, to.toSorted()]);
  expect(readImports(page)).toEqual(Object.fromEntries(sorted));
  const changed = page.replace("app, config, dashboard, database, doctor, foundation, http", "app, http");
  expect(readImports(changed)).not.toEqual(Object.fromEntries(sorted));
});

test("the map says of each room in a folder of src what it holds, and names no other", () => {
  const rooms = listFiles().flatMap((path) => /^src\/(\w[\w-]*\/[\w-]+)\//.exec(path)?.[1] ?? []);
  expect(roomsNamed(page)).toEqual([...new Set(rooms)].toSorted());
  expect(roomsNamed("- `mail/smtp`, `mail/imap`: how it is sent")).toEqual(["mail/imap", "mail/smtp"]);
});

test("the map names the folder that writes each table, and each table once", () => {
  const schema = readText("migrations/schema.sql").text;
  const tables = [...schema.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name = ""]) => name);
  const owned = rowsUnder(page, "Who owns a table").flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []);
  expect(owned.toSorted()).toEqual(tables.toSorted());
});

test("every file and folder of the code that a page names is there", () => {
  const pages = listFiles().filter((path) => path.endsWith(".md"));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.map(readText).flatMap(findDeadPaths)).toEqual([]);
  const planted = { path: "docs/a.md", text: "see `src/novel/a.ts` and src/main.ts." };
  expect(findDeadPaths(planted)).toEqual(["docs/a.md: src/novel/a.ts"]);
});
