import { expect, test } from "vitest";
import { listFiles, modeOf, readText } from "./repository.ts";
import { checkMigrationNames, checkRunBit, checkTestPlaces, checkTopLevel } from "./repository-rules.ts";
import { findCircles } from "./source-imports.ts";
import {
  beginsMessagesSmall,
  asksGivenClock,
  usesGivenClock,
  findUnusedEdges,
  fitsEveryMachine,
  hasPlainName,
  isFinished,
  keepsImportTable,
  keepsPackageHomes,
  leavesFlagsToCommands,
  readsEnvironmentInPlace,
  type Rule,
  runsEveryTest,
  takesTimeUnits,
  writesStreamsInPlace,
} from "./source-rules.ts";

const paths = listFiles();
const files = paths.filter((path) => path !== "package-lock.json").map(readText);
const code = files.filter(({ path }) => path.endsWith(".ts"));

const plant = (path: string, text: string) => ({ path, text });

/** Each rule, with files that it must catch and files that it must let pass. */
const RULES: readonly {
  readonly sentence: string;
  readonly rule: Rule;
  readonly over: readonly { path: string; text: string }[];
  readonly caught: readonly { path: string; text: string }[];
  readonly passed: readonly { path: string; text: string }[];
}[] = [
  {
    sentence: "every folder of src imports only what the table of the architecture allows",
    rule: keepsImportTable,
    over: code,
    caught: [
      plant("src/http/a-routes.ts", 'import type { Database } from "../database/database.ts";'),
      plant("src/foundation/a.ts", 'import { a } from "../config/config.ts";'),
      plant("src/spam/signals/a.ts", 'import { a } from "../../database/database.ts";'),
      plant("src/cli/commands/serve-command.ts", 'import { createServer } from "../../http/server.ts";'),
      plant(
        "src/cli/commands/key-commands.ts",
        'import { startServer } from "../../server/start-server.ts";',
      ),
      plant("src/webhooks/a.ts", 'const later = () => import("../submissions/submission.ts");'),
      plant("src/keys/a.ts", 'export { b } from "../endpoints/endpoint.ts";'),
      plant("src/keys/a.ts", 'import {\n  a,\n  b,\n} from "../endpoints/endpoint.ts";'),
      plant("src/keys/a.ts", 'import "../../test/support.ts";'),
      plant("src/novel/a.ts", ""),
    ],
    passed: [
      plant(
        "src/endpoints/a.ts",
        'import { a } from "../keys/issue-key.ts";\nimport { b } from "../workspaces/workspace.ts";',
      ),
      plant(
        "src/cli/commands/serve-command.ts",
        'import { startServer } from "../../server/start-server.ts";',
      ),
    ],
  },
  {
    sentence: "every package is imported in its home only",
    rule: keepsPackageHomes,
    over: code,
    caught: [
      plant("src/cli/a.ts", 'import fastify, { type FastifyInstance } from "fastify";'),
      plant("src/keys/a.ts", 'import SqliteDatabase from "better-sqlite3";'),
      plant("src/http/a.ts", 'import { hash } from "@node-rs/argon2";'),
      plant("src/http/a.ts", 'const later = import("undici");'),
      plant("src/http/a.ts", 'import left from "left-pad/lib/left.js";'),
    ],
    passed: [
      plant("src/database/sqlite/open-database.ts", 'import SqliteDatabase from "better-sqlite3";'),
      plant("src/cli/a.ts", 'import type { FastifyInstance } from "fastify";'),
    ],
  },
  {
    sentence: "file names are plain words that say what is inside",
    rule: hasPlainName,
    over: files,
    caught: ["utils.ts", "helpers/a.ts", "keys/index.ts", "keyStore.ts", "key_store.ts", "service.ts"].map(
      (name) => plant(`src/${name}`, ""),
    ),
    passed: [plant("src/keys/key-store.ts", ""), plant("src/database/migrations.generated.ts", "")],
  },
  {
    sentence: "the environment is read where the settings are loaded, and in the few places with a reason",
    rule: readsEnvironmentInPlace,
    over: code,
    caught: [plant("src/keys/a.ts", 'const home = process.env["HOME"];')],
    passed: [plant("src/keys/a.ts", "// process.env is not read here")],
  },
  {
    sentence: "only the writers touch the program's streams",
    rule: writesStreamsInPlace,
    over: code,
    caught: [
      plant("src/keys/a.ts", 'process.stdout.write("x");'),
      plant("src/keys/a.ts", 'console.log("x");'),
    ],
    passed: [plant("src/cli/output/output.ts", "process.stdout.isTTY")],
  },
  {
    sentence: "time comes from the clock that was handed in",
    rule: asksGivenClock,
    over: code,
    caught: [
      plant("src/keys/a.ts", "const now = Date.now();"),
      plant("src/keys/a.ts", "const now = new Date();"),
    ],
    passed: [plant("src/keys/a.ts", "const day = new Date(now);")],
  },
  {
    sentence: "the machine's clock is chosen once, where a program begins",
    rule: usesGivenClock,
    over: code,
    caught: [plant("src/cli/commands/key-commands.ts", "revokeKey(id, systemClock.now());")],
    passed: [plant("src/cli/command.ts", "clock: systemClock,")],
  },
  {
    sentence: "messages of features begin small and end without a full stop, as a terminal shows them",
    rule: beginsMessagesSmall,
    over: code,
    caught: [
      plant("src/keys/a.ts", 'throw new FormsvcError("usage", "The key is wrong");'),
      plant("src/keys/a.ts", 'throw new FormsvcError("usage", "A key is wrong");'),
      plant("src/mail/a.ts", "new FormsvcError(\n  'x',\n  `a subject has ${most} characters.`,\n)"),
    ],
    passed: [
      plant("src/keys/a.ts", 'throw new FormsvcError("usage", "the key is wrong; issue another one");'),
      plant("src/cli/a.ts", 'throw new FormsvcError("usage", "EDITOR is not set");'),
      plant("src/http/a.ts", 'throw new FormsvcError("forbidden", "This endpoint is paused.");'),
    ],
  },
  {
    sentence: "only the command line names its flags: the other folders leave hints",
    rule: leavesFlagsToCommands,
    over: code,
    caught: [
      plant("src/keys/a.ts", 'const why = "it is sent twice; replay it without --as-new";'),
      plant("src/server/a.ts", "throw new Error(`${host} is taken; choose another with --host`);"),
    ],
    passed: [
      plant("src/cli/a.ts", 'const why = "choose another with --port";'),
      plant(
        "src/keys/a.ts",
        "/** As given with `--config`. */\nfor (let left = 3; left > 0; left--) step(left);",
      ),
    ],
  },
  {
    sentence: "nothing is left to do in a comment",
    rule: isFinished,
    over: files,
    caught: [plant("src/a.ts", "// TODO: later"), plant("docs/a.md", "FIXME")],
    passed: [plant("src/a.ts", "const todos = 1;")],
  },
  {
    sentence: "every test runs, or names the reason why it cannot",
    rule: runsEveryTest,
    over: code,
    caught: ["only", "skip", "todo"].map((word) => plant("test/a.test.ts", `test.${word}("x", () => {});`)),
    passed: [plant("test/a.test.ts", 'test.skipIf(!hasScript)("x", () => {});')],
  },
  {
    sentence: "the units of time are defined in one place",
    rule: takesTimeUnits,
    over: code,
    caught: [
      plant("src/a.ts", "const DAY_MS = 86_400_000;"),
      plant("test/a.test.ts", "  const hour = 60 * 60_000;"),
      plant("test/a.test.ts", "const DAY = 24 * HOUR_MS;"),
      plant("src/a.ts", "const KEPT_MS = 7 * 86_400_000;"),
    ],
    passed: [
      plant("src/a.ts", "const days = 3;\nconst LATE_MS = 60_000;\nconst KEPT_MS = 7 * DAY_MS;"),
      plant("src/browser/a.ts", "const DAY_MS = 86_400_000;"),
    ],
  },
  {
    sentence: "no file names a registry's host or a folder of the machine it was written on",
    rule: fitsEveryMachine,
    over: files,
    caught: [
      plant("a.md", "https://registry.npmjs.org/x"),
      plant("a.md", "see npmjs.com/package/x"),
      plant("a.sh", "cd /work/main"),
      plant("a.sh", 'HOME="/root/x"'),
    ],
    passed: [plant("a.md", "cd ./work/x; the network/work/ratio")],
  },
];

for (const { sentence, rule, over, caught, passed } of RULES) {
  test(`in the whole repository ${sentence}`, () => {
    expect(over.flatMap(rule)).toEqual([]);
    expect(over.length).toBeGreaterThan(50);
  });
  test(`a planted violation is caught: ${sentence}`, () => {
    for (const file of caught) expect(rule(file), `${file.path}: ${file.text}`).not.toEqual([]);
    for (const file of passed) expect(rule(file), `${file.path}: ${file.text}`).toEqual([]);
  });
}

test("the import table allows nothing that no file uses", () => {
  expect(findUnusedEdges(code)).toEqual([]);
  const table = { keys: ["database", "schemas"] };
  const importing = plant("src/keys/a.ts", 'import { a } from "../database/database.ts";');
  expect(findUnusedEdges([importing], table)).toEqual(["keys may import schemas, and no file of it does"]);
  expect(
    findUnusedEdges([importing, plant("src/keys/b.ts", 'import type { B } from "../schemas/b.ts";')], table),
  ).toEqual([]);
  expect(findUnusedEdges([plant("test/keys/a.ts", importing.text)], table)).toHaveLength(2);
});

test("no file of src imports itself by way of others", () => {
  expect(findCircles(code.filter(({ path }) => path.startsWith("src/")))).toEqual([]);
  const first = plant("src/a.ts", 'import type { B } from "./b.ts";');
  const second = plant("src/b.ts", 'const { c } = await import("./c.ts");');
  expect(findCircles([first, second, plant("src/c.ts", 'import { a } from "./a.ts";')])).toHaveLength(3);
  expect(findCircles([first, second, plant("src/c.ts", "")])).toEqual([]);
});

test("the top level has what the architecture lists and nothing else", () => {
  expect(checkTopLevel([...new Set(paths.map((path) => path.split("/")[0] ?? ""))])).toEqual([]);
  expect(checkTopLevel(["src", "jest.config.js"])).toHaveLength(1);
});

test("every test file lies in the folder that has the name of what it tests", () => {
  expect(checkTestPlaces(paths)).toEqual([]);
  const sources = [
    "src/mail/replies/may-reply.ts",
    "src/keys/issue-key.ts",
    "src/cli/commands/key-commands.ts",
  ];
  const places = (...tests: readonly string[]) => checkTestPlaces([...sources, ...tests]);
  expect(
    places("test/mail/may-reply.test.ts", "test/keys/flood.test.ts", "test/cli/issue-key.test.ts"),
  ).toEqual([]);
  expect(places("test/faults/issue-key.test.ts", "test/mail/replies/any.test.ts")).toEqual([]);
  expect(places("test/mail/issue-key.test.ts")).toHaveLength(1);
  expect(places("test/letters/any.test.ts", "test/keys/replies/any.test.ts")).toHaveLength(2);
  expect(places("test/any.test.ts")).toHaveLength(1);
});

test("migrations are numbered from 1 on without a gap, and those of PostgreSQL from one that stands for all before it", () => {
  const names = paths
    .filter((path) => path.startsWith("migrations/") && path !== "migrations/schema.sql")
    .map((path) => path.slice(11));
  const ofPostgresql = names.filter((name) => name.startsWith("postgresql/")).map((name) => name.slice(11));
  expect(checkMigrationNames(names.filter((name) => !name.startsWith("postgresql/")))).toEqual([]);
  expect(ofPostgresql.length).toBeGreaterThan(0);
  expect(checkMigrationNames(ofPostgresql, Number.parseInt(ofPostgresql.toSorted()[0] ?? "", 10))).toEqual(
    [],
  );
  expect(checkMigrationNames(["0001-a.sql", "0003-b.sql"])).toHaveLength(1);
  expect(checkMigrationNames(["0001-a.sql", "0001-b.sql"])).toHaveLength(1);
  expect(checkMigrationNames(["1-a.sql"])).toHaveLength(1);
});

test("what begins with #! can be run, and nothing else", () => {
  expect(files.flatMap((file) => checkRunBit(file, modeOf(file.path)))).toEqual([]);
  expect(checkRunBit(plant("a.sh", "#!/bin/sh"), 0o100644)).toHaveLength(1);
  expect(checkRunBit(plant("a.md", "text"), 0o100755)).toHaveLength(1);
});
