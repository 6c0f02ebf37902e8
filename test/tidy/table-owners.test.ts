import { expect, test } from "vitest";
import { listFiles, readText } from "./repository.ts";
import { checkTableOwners, findTableUses, type ForeignUse, TABLE_OWNERS } from "./table-owners.ts";

/** Each use of a table outside the folder that owns it, and the reason why the owner has no function for it. */
const FOREIGN_USES: readonly ForeignUse[] = [
  {
    folder: "database",
    table: "account",
    does: "reads",
    why: "a new database is removed only if it has none, by a connection that holds the file alone",
  },
  {
    folder: "submissions",
    table: "file",
    does: "reads",
    why: "the messages of a submission wait as long as one of its files is before the scanner, which one statement tells of all of them",
  },
  {
    folder: "submissions",
    table: "file_scan",
    does: "reads",
    why: "the messages of a submission wait as long as one of its files is before the scanner, which one statement tells of all of them",
  },
  {
    folder: "submissions",
    table: "delivery",
    does: "reads",
    why: "the clock is compared with the newest message, without those of submissions that were deleted because of their time",
  },
  {
    folder: "endpoints",
    table: "submission",
    does: "reads",
    why: "an endpoint is deleted only if it has none, and a post may come until the transaction that deletes it",
  },
  {
    folder: "endpoints",
    table: "held",
    does: "reads",
    why: "an endpoint is deleted only if it has none, and a post may come until the transaction that deletes it",
  },
  {
    folder: "endpoints",
    table: "recipient",
    does: "reads",
    why: "what loses a field by a new schema is told by the operation that stores the schema, and recipients stand above endpoints",
  },
  {
    folder: "endpoints",
    table: "auto_reply",
    does: "reads",
    why: "what loses a field by a new schema is told by the operation that stores the schema, and mail stands above endpoints",
  },
  {
    folder: "submissions",
    table: "endpoint",
    does: "reads",
    why: "of what forms were sent, findings take the few forms of a viewer in one statement, with their names",
  },
  {
    folder: "files",
    table: "endpoint",
    does: "reads",
    why: "the files of a workspace's forms are summed in the transaction that takes room for more",
  },
  {
    folder: "files",
    table: "held",
    does: "reads",
    why: "files are given to a held post in the transaction that stores it, unless it is held already",
  },
  {
    folder: "database",
    table: "file_chunk",
    does: "writes",
    why: "a copy is made without the bytes of files, when no other part of the program has it open",
  },
  {
    folder: "database",
    table: "file",
    does: "reads",
    why: "whoever makes a copy is told how many files are in a store and not in it",
  },
  {
    folder: "database",
    table: "file",
    does: "writes",
    why: "a copy is made without the bytes of files, when no other part of the program has it open",
  },
  {
    folder: "mail",
    table: "delivery",
    does: "reads",
    why: "one statement keeps what an e-mail is made of, if its message was not deleted meanwhile",
  },
  {
    folder: "submissions",
    table: "endpoint_number",
    does: "reads",
    why: "a submission names its endpoint by this number; one SQL expression serves every statement",
  },
  {
    folder: "outbox",
    table: "submission",
    does: "reads",
    why: "a claim reads the notification's body in the statement that claims, and nobody is told of a submission that is not there",
  },
  {
    folder: "outbox",
    table: "submission",
    does: "writes",
    why: "the notification's body lies in the submission's row, and goes when no message needs it any more",
  },
  {
    folder: "outbox",
    table: "endpoint_number",
    does: "reads",
    why: "whether a submission that a list of deliveries names is of a form that may be seen",
  },
  {
    folder: "outbox",
    table: "endpoint",
    does: "reads",
    why: "the name in each notification and the workspace of each recipient, read with the recipients in one statement",
  },
  {
    folder: "outbox",
    table: "workspace",
    does: "reads",
    why: "whether there are several, in the transaction that reads the recipients, because they share the slots",
  },
  {
    folder: "database",
    table: "submission",
    does: "reads",
    why: "a copy may have the schema of an earlier version, which only this folder knows",
  },
  { folder: "database", table: null, does: "reads", why: "a copy to another engine has every table" },
  { folder: "database", table: null, does: "writes", why: "a copy to another engine has every table" },
  ...["webhook", "mail_recipient", "auto_reply", "outbox"].map((table) => restored(table, "reads")),
  ...["webhook", "recipient", "delivery", "outbox", "session", "sign_in_link"].map((table) =>
    restored(table, "writes"),
  ),
];

function restored(table: string, does: ForeignUse["does"]): ForeignUse {
  const why = "restore changes a backup that may have the schema of an earlier version";
  return { folder: "database", table, does, why };
}

const sources = listFiles()
  .filter((path) => /^src\/.*\.ts$/.test(path) && !path.endsWith(".generated.ts"))
  .map(readText);

const planted = (path: string, text: string) => ({ path: `src/${path}`, text });

test("each table is written by its owner's folder, and used elsewhere only for a reason that is listed", () => {
  expect(checkTableOwners(sources, TABLE_OWNERS, FOREIGN_USES)).toEqual([]);
  expect(sources.length).toBeGreaterThan(200);
});

test("every table has an owner, and every owner uses its table", () => {
  const schema = readText("migrations/schema.sql").text;
  const tables = [...schema.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, table = ""]) => table);
  expect(Object.keys(TABLE_OWNERS).sort()).toEqual(tables.sort());
  const uses = sources.flatMap(findTableUses);
  for (const [table, owner] of Object.entries(TABLE_OWNERS)) {
    expect(
      uses.some((use) => use.table === table && use.folder === owner),
      table,
    ).toBe(true);
  }
});

test("docs/architecture.md names the owner of every table", () => {
  const rows = readText("docs/architecture.md").text.matchAll(/^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \|$/gm);
  const documented = [...rows].flatMap(([, owner = "", tables = ""]) =>
    [...tables.matchAll(/`(\w+)`/g)].map(([, table = ""]) => [table, owner] as const),
  );
  expect(Object.fromEntries(documented)).toEqual(TABLE_OWNERS);
});

test("planted uses of another folder's table are caught, in queries and in SQL texts", () => {
  const owners = { usage: "workspaces", held: "submissions" };
  for (const text of [
    'query.insertInto("usage").values(row)',
    'query.updateTable("usage as u").set(row)',
    'query.deleteFrom("usage")',
    'deleteSome("usage", ["id"], select)',
    'query.selectFrom("usage")',
    'query.selectFrom(["held", "usage"])',
    'query.selectFrom("held").innerJoin("usage", "a", "b")',
    'query.selectFrom("held").where((eb) => eb.exists(eb.selectFrom("usage")))',
    'db.prepare("INSERT OR REPLACE INTO usage VALUES (?)")',
    'db.prepare("UPDATE usage SET used = 1")',
    'db.prepare("DELETE FROM usage WHERE used = 1")',
    "db.prepare(`SELECT (SELECT max(used) FROM usage) FROM held WHERE id = ${id}`)",
    'db.prepare("SELECT 1 FROM held AS h, usage")',
    'db.prepare("SELECT 1 FROM held LEFT JOIN usage ON true")',
    "sql`SELECT 1 FROM usage WHERE id = ${id}`",
  ]) {
    const found = checkTableOwners([planted("submissions/a.ts", text)], owners, []);
    expect(found, text).toEqual([
      expect.stringMatching(/^src\/submissions\/a\.ts:1: (?:read|write)s usage, /),
    ]);
  }
});

test("a table that is handed in without its name is caught, and what only looks like a table is not", () => {
  const owners = { usage: "workspaces" };
  for (const text of ["query.selectFrom(table)", "db.prepare(`SELECT 1 FROM ${table}`)"])
    expect(checkTableOwners([planted("submissions/a.ts", text)], owners, []), text).toHaveLength(1);
  for (const text of [
    "// SELECT used FROM usage",
    'throw new Error("no word from usage")',
    'db.prepare("SELECT usage FROM json_each(?) AS usage")',
    "db.prepare(`SELECT usage FROM ${LIST} AS usage`)",
    'db.prepare("INSERT INTO held (usage) VALUES (?) ON CONFLICT DO UPDATE SET usage = 1")',
  ])
    expect(checkTableOwners([planted("submissions/a.ts", text)], owners, []), text).toEqual([]);
});

test("a listed reason covers what it names and no more, and one that nothing uses any more is caught", () => {
  const owners = { usage: "workspaces" };
  const listed: ForeignUse[] = [{ folder: "submissions", table: "usage", does: "reads", why: "a reason" }];
  const reading = planted("submissions/a.ts", 'query.selectFrom("usage")');
  const writing = planted("submissions/a.ts", 'query.deleteFrom("usage")');
  expect(checkTableOwners([reading], owners, listed)).toEqual([]);
  expect(checkTableOwners([reading, writing], owners, listed)).toHaveLength(1);
  expect(checkTableOwners([planted("http/a.ts", reading.text), reading], owners, listed)).toHaveLength(1);
  expect(checkTableOwners([planted("submissions/a.ts", "")], owners, listed)).toEqual([
    "submissions is listed as one that reads usage, and does not",
  ]);
});
