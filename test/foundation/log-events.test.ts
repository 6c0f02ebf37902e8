import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const FILES = globSync("src/foundation/*events.ts", { cwd: root });
const source = FILES.map((file) => readFileSync(`${root}/${file}`, "utf8")).join("\n");

test("docs/log-events.md lists exactly the events that the program writes, with their levels", () => {
  const written = source
    .split("export function ")
    .slice(1)
    .map((text) => {
      const name = /event: "([a-z._-]+)"/.exec(text)?.[1];
      const levels = [...text.matchAll(/(?:\blog\.|level: ")(debug|info|warn|error)\b/g)].map(
        ([, level]) => level,
      );
      return `${name} ${[...new Set(levels)].join(", ")}`;
    });
  const docs = readFileSync(`${root}/docs/log-events.md`, "utf8");
  const listed = [...docs.matchAll(/^\| `([a-z._-]+)` \| ([a-z, ]+) \|/gm)].map(
    ([, name, levels]) => `${name} ${levels}`,
  );
  const byName = (a: string, b: string): number => a.localeCompare(b);
  expect(listed.sort(byName)).toEqual(written.sort(byName));
});

test("every event is named by what it is about and what happened, like server.listening", () => {
  const names = [...source.matchAll(/event: "([^"]*)"/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !/^[a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
});

test("no other file names an event of its own", () => {
  const others = globSync("src/**/*.ts", { cwd: root }).filter((file) => !FILES.includes(file));
  expect(others.length).toBeGreaterThan(50);
  expect(
    others.filter((file) =>
      /\bevent: "(?!submission\.created")[a-z]+\.[a-z-]+"/.test(readFileSync(`${root}/${file}`, "utf8")),
    ),
  ).toEqual([]);
});
