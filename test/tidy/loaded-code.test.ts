import { expect, test } from "vitest";
import { LATE_SCRIPTS } from "../../scripts/smaller-script.ts";
import { listFiles, readText } from "./repository.ts";
import { importsOf, resolveImport } from "./source-imports.ts";

/**
 * Lists what is loaded together with a file: the files and packages that it imports, directly or through others, but not those that are
 * imported on demand.
 */
function loadedWith(path: string): Set<string> {
  const loaded = new Set([path]);
  for (const each of loaded) {
    if (!each.startsWith("src/")) continue;
    const text = readText(each).text.replaceAll(/\bimport\(/g, "later(");
    for (const { specifier, typesOnly } of importsOf(text)) {
      if (!typesOnly && !specifier.endsWith(".json"))
        loaded.add(specifier.startsWith(".") ? resolveImport(each, specifier) : specifier);
    }
  }
  return loaded;
}

test("a server of a file loads nothing of PostgreSQL but what tells an address from a path", () => {
  const loaded = [...loadedWith("src/cli/commands/serve-command.ts")];
  expect(loaded.length).toBeGreaterThan(150);
  expect(loaded.filter((path) => path.startsWith("src/database/postgresql/"))).toEqual([
    "src/database/postgresql/address.ts",
  ]);
  expect(loaded).toContain("better-sqlite3");
  expect(loaded).not.toContain("pg");
  expect([...loadedWith("src/app/postgresql-engine.ts")]).toContain("pg");
});

test("what is packed beside the script is not loaded with a server", () => {
  const loaded = loadedWith("src/cli/commands/serve-command.ts");
  expect(loaded).toContain("fastify");
  const packed = Object.values(LATE_SCRIPTS).flatMap(({ modules }) => modules);
  expect(packed.length).toBeGreaterThan(20);
  expect(packed.filter((each) => loaded.has(each))).toEqual([]);
  expect([...loadedWith("src/webhooks/receiver-connections.ts")]).toContain("undici/lib/dispatcher/agent.js");
});

test("the dashboard, a script of its own, is entered by its first file alone, and on demand", () => {
  const outside = listFiles().filter((path) => /^src\/(?!dashboard\/).*\.ts$/.test(path));
  const entries = outside.flatMap((path) =>
    importsOf(readText(path).text)
      .filter(({ specifier, typesOnly }) => specifier.startsWith(".") && !typesOnly)
      .map(({ specifier }) => resolveImport(path, specifier))
      .filter((imported) => imported.startsWith("src/dashboard/"))
      .map((imported) => [path, imported]),
  );
  expect(entries).toEqual([["src/server/late-dashboard.ts", "src/dashboard/dashboard.ts"]]);
  expect([...loadedWith("src/cli/commands/serve-command.ts")]).not.toContain("src/dashboard/dashboard.ts");
});

test("a server has no operation on the way of its start and its posts, and version has none at all", () => {
  const operations = (path: string): string[] =>
    [...loadedWith(path)].filter((each) => /^src\/operations\/(?:perform|operation)\.ts$/.test(each));
  expect(operations("src/cli/commands/serve-command.ts")).toEqual([]);
  expect(operations("src/cli/commands/version-command.ts")).toEqual([]);
  expect(operations("src/server/late-dashboard.ts")).toEqual([]);
  expect(operations("src/dashboard/dashboard.ts")).toHaveLength(2);
});

test("what every command loads before its own code is commander and what Node has already", () => {
  const loaded = [...loadedWith("src/main.ts"), ...loadedWith("src/cli/commands/version-command.ts")];
  expect(loaded).toContain("src/cli/remote/choose-server.ts");
  const outside = new Set(loaded.filter((each) => !each.startsWith("src/")));
  expect([...outside].toSorted()).toEqual(["commander", "node:fs", "node:path"]);
});
