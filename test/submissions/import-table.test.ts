import { describe, expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { importTable } from "../../src/submissions/import/import-table.ts";
import { deleteSubmissions } from "../../src/submissions/manage/work-operations.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { bakery, BAKERY_SCHEMA, tableOf } from "../support/bakery.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { changeSchema, performOn, removeEndpoint } from "../support/terminal.ts";

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("rows become submissions by their columns' names, and twice the same file adds nothing", async () => {
    const db = await temporary();
    const { bring, stored, endpoint } = await bakery(db);
    const text =
      "Created_At,NAME,data.email,guests,vegan,days,Colour\r\n" +
      '2026-01-31T10:00:00Z,Ana,ana@example.org,3,Yes,"Fri, Sat",red\r\n' +
      "2026-01-31T11:00:00Z,'=1+1,,,no,,blue\r\n";
    const told = { rows: 2, imported: 2, known: 0, refused: [], unmapped: ["Colour"] };
    expect(await bring(text, { dry_run: true })).toEqual(told);
    expect(await stored()).toEqual([]);
    expect(await bring(text)).toEqual(told);
    expect(await bring(text)).toEqual({ ...told, imported: 0, known: 2 });
    expect(await bring(text, { dry_run: true })).toEqual({ ...told, imported: 0, known: 2 });
    expect(await stored()).toEqual([
      [
        { name: "Ana", email: "ana@example.org", guests: 3, vegan: true, days: ["Fri", "Sat"] },
        "2026-01-31T10:00:00.000Z",
        "csv",
      ],
      [{ name: "=1+1", vegan: false }, "2026-01-31T11:00:00.000Z", "csv"],
    ]);
    const [change] = await db.read(() => listChanges(1));
    expect(change).toMatchObject({
      action: "submission.import",
      subject: endpoint,
      detail: "began an import of 2 from csv",
    });
  });

  test("unknown fields, line breaks and blanks of our own table are stored as they were", async () => {
    const db = await temporary();
    const { bring, stored } = await bakery(db);
    const told = await bring(
      'When (UTC),name,Not among the fields,IP address,Browser,Id\r\n2026-01-31 10:00,"a\r\nb ","{""size"":""L""}",2001:db8::1,Firefox,sub_1\r\n',
    );
    expect(told).toMatchObject({ imported: 1, unmapped: [] });
    expect(await stored()).toEqual([[{ name: "a\r\nb " }, "2026-01-31T10:00:00.000Z", "csv"]]);
    expect(await rowsOf(db, "SELECT unknown_fields, ip_address, user_agent FROM submission")).toEqual([
      { unknown_fields: '{"size":"L"}', ip_address: "2001:db8::1", user_agent: "Firefox" },
    ]);
  });

  test("a date is taken as tables write it, and one that is none is refused with the form that is expected", async () => {
    const { bring, stored } = await bakery(await temporary());
    const rows = ['Ana,30.11.2026,"1.12.2026; 2026/12/2"', "Bo,2026-11-30,", "Cy,11/10/2026,", "Di,soon,"];
    const told = await bring(
      `name,pickup,closed,created_at\n${rows.map((row) => `${row},2026-01-31\n`).join("")}`,
    );
    expect((await stored()).map(([data]) => data)).toEqual([
      { name: "Ana", pickup: "2026-11-30", closed: ["2026-12-01", "2026-12-02"] },
      { name: "Bo", pickup: "2026-11-30" },
    ]);
    const message = "not a date; expected one like 2026-11-30 or 30.11.2026";
    expect(told.refused).toEqual([4, 5].map((line) => ({ line, field: "pickup", message })));
  });

  test("nothing that is imported is counted, sent or scored", async () => {
    const db = await temporary();
    const { bring } = await bakery(db);
    const before = await rowsOf(db, "SELECT * FROM usage");
    await bring(
      "created_at,name\n2026-01-31T10:00:00Z,WIN MONEY http://casino.example\n".replace(
        "WIN MONEY http://casino.example",
        "Casino!",
      ),
    );
    expect(await rowsOf(db, "SELECT * FROM usage")).toEqual(before);
    expect(await rowsOf(db, "SELECT id FROM delivery")).toEqual([]);
    expect(await rowsOf(db, "SELECT messages FROM outbox")).toEqual([]);
    expect(await rowsOf(db, "SELECT spam_score, spam_reasons, event_head FROM submission")).toEqual([
      { spam_score: 0, spam_reasons: "[]", event_head: null },
    ]);
  });

  test("equal rows stay as many as they are, and only what is new of a longer file is added", async () => {
    const { bring, stored } = await bakery(await temporary());
    const row = "2026-01-31T10:00:00Z,Ana\n";
    const known = { refused: [], unmapped: [] };
    expect(await bring(`created_at,name\n${row}${row}`)).toEqual({
      rows: 2,
      imported: 2,
      known: 0,
      ...known,
    });
    expect(await bring(`created_at,name\n${row}${row}${row}`)).toEqual({
      rows: 3,
      imported: 1,
      known: 2,
      ...known,
    });
    expect(await stored()).toHaveLength(3);
  });

  test("a row is known by the service's id, whatever else of it changed, and twice in a file it is one", async () => {
    const { bring, stored } = await bakery(await temporary());
    const first = await bring("_id,_date,name\n7,2026-01-31T10:00:00,Ana\n7,2026-01-31T10:00:00,Ana\n", {
      format: "formspree",
    });
    expect([first.imported, first.known]).toEqual([1, 1]);
    const again = await bring("_id,_date,name\n7,2026-02-01T10:00:00,Anna\n8,2026-02-01T10:00:00,Bo\n", {
      format: "formspree",
    });
    expect([again.imported, again.known]).toEqual([1, 1]);
    expect((await stored()).map(([data]) => data)).toEqual([{ name: "Ana" }, { name: "Bo" }]);
  });

  test("a dry run counts a service's id once, however far apart its lines are, and --map may leave the id out", async () => {
    const { bring } = await bakery(await temporary());
    const lines = Array.from(
      { length: 700 },
      (_, index) => `${index === 699 ? 0 : index},2026-01-31T10:00:00Z,V${index}`,
    );
    const text = `id,created_at,name\n${lines.join("\n")}\n`;
    const dry = await bring(text, { dry_run: true });
    expect(dry).toMatchObject({ rows: 700, imported: 699, known: 1 });
    expect(await bring(text)).toEqual(dry);
    const same = "id,created_at,name\n7777,2026-02-01T10:00:00Z,Ana\n7777,2026-02-01T11:00:00Z,Bo\n";
    expect(await bring(same, { dry_run: true })).toMatchObject({ imported: 1, known: 1 });
    expect(await bring(same, { map: ["id="] })).toMatchObject({ imported: 2, known: 0 });
  });

  test("what was deleted, for good or into the bin, does not come back; another form takes the same rows", async () => {
    const db = await temporary();
    const { bring, stored, jobs } = await bakery(db);
    const text = "created_at,name\n2026-01-31T10:00:00Z,Ana\n2026-01-31T11:00:00Z,Bo\n";
    await bring(text);
    const ids = (await rowsOf<{ id: string }>(db, "SELECT id FROM submission ORDER BY id")).map(
      ({ id }) => id,
    );
    await performOn(db, deleteSubmissions, { submissions: [ids[0]!] });
    await write(db, `DELETE FROM submission WHERE id = '${ids[1]}'`);
    expect(await bring(text)).toMatchObject({ imported: 0, known: 2 });
    expect(await stored()).toHaveLength(1);
    await db.transaction(() => changeSchema(jobs.endpoint, BAKERY_SCHEMA, NOON));
    const other = await performOn(
      db,
      importTable,
      { endpoint: jobs.endpoint, format: "csv" },
      { parts: tableOf(text) },
    );
    expect(other).toMatchObject({ imported: 2, known: 0 });
    await removeEndpoint(db, jobs.endpoint);
    expect(await rowsOf(db, "SELECT DISTINCT endpoint_id FROM imported_row")).toHaveLength(1);
  });

  test("rows that do not fit are told with line and field, and the others are imported", async () => {
    const { bring, stored } = await bakery(await temporary());
    const rows = [
      "2026-01-31T10:00:00Z,Ana,ana@example.org,1",
      "2026-01-31T10:00:00Z,,x@example.org,1",
      "2026-01-31T10:00:00Z,Bo,no address,1",
      "yesterday,Cy,,1",
      "2199-01-01T00:00:00Z,Di,,1",
      "2026-01-31T10:00:00Z,Ed,,many",
      '2026-01-31T10:00:00Z,"F"red,,1',
      "2026-01-31T10:00:00Z,Gus,,1,,much",
      "2026-01-31T10:00:00Z,Hal,,1,constructor",
    ];
    const done = await bring(`created_at,name,email,guests,vegan\n${rows.join("\n")}\n`);
    expect([done.rows, done.imported, done.known]).toEqual([9, 1, 0]);
    expect(done.refused).toEqual([
      { line: 3, field: "name", message: "name is required" },
      { line: 4, field: "email", message: "email must be an e-mail address" },
      { line: 5, field: "created_at", message: expect.stringContaining("not a time") as string },
      {
        line: 6,
        field: "created_at",
        message:
          "2199-01-01T00:00:00Z has not come yet: it is 2026-06-15T12:00:00.000Z; " +
          "write its time zone behind it if it is of another than the workspace's, or correct it",
      },
      { line: 7, field: "guests", message: "not a number; expected one like 1500.5" },
      { line: 8, field: null, message: expect.stringContaining("a quote ends in the middle") as string },
      { line: 9, field: null, message: "the row has 6 cells, and the first line 5" },
      { line: 10, field: "vegan", message: "vegan must be true or false, not text" },
    ]);
    expect(await stored()).toHaveLength(1);
  });

  test("a row may be a minute ahead of the clock, and no more", async () => {
    const db = await temporary();
    const { bring, stored } = await bakery(db);
    const done = await bring(
      "created_at,name\n2026-06-15T12:01:00.000Z,Ana\n2026-06-15T12:01:00.001Z,Bo\n1969-12-31T23:59:59Z,Cy\n",
    );
    expect(done.refused.map(({ line, message }) => [line, message.slice(0, 24)])).toEqual([
      [3, "2026-06-15T12:01:00.001Z"],
      [4, "the time is before 1970"],
    ]);
    expect(await stored()).toHaveLength(1);
  });

  test("a file that cannot be meant is refused with what to do, and nothing is stored", async () => {
    const db = await temporary();
    const { bring, stored } = await bakery(db);
    const good = "created_at,name\n2026-01-31T10:00:00Z,Ana\n";
    const latin = Buffer.from("created_at,name\n2026-01-31T10:00:00Z,Jos\xe9\n", "latin1");
    const refusals: readonly (readonly [
      text: string | Buffer,
      more: Parameters<typeof bring>[1],
      complaint: string,
    ])[] = [
      ["", {}, "the file is empty"],
      ["created_at,name,Name,name\n", {}, 'the column "name" stands there twice'],
      ["when,name\n2026-01-31,Ana\n", {}, "map it (COLUMN=created_at)"],
      ["created_at,colour\n2026-01-31,red\n", {}, "map them (COLUMN=FIELD)"],
      [`${good}"open,quote\n`, {}, "line 3: a quote is opened here and never closed"],
      [latin, {}, "no text in utf-8; name its encoding (the character set)"],
      [good, { encoding: "klingon" }, 'not an encoding: "klingon"'],
      [good, { map: ["Colour=name"] }, 'the file has no column "Colour"; it has "created_at", "name"'],
      [good, { map: ["name=colour"] }, 'the form has no field "colour"'],
      [good, { map: ["name"] }, "expected COLUMN=FIELD"],
      [good, { map: ["name=email", "created_at=email"] }, 'two columns are mapped to "email"'],
      ['{"rows":[]}', {}, "expected a list of rows"],
      ["[1,", {}, "not JSON (line 1, column 4: Unexpected end of JSON input)"],
      ['[{"a": 1},\n{"a": geheim}]', {}, "not JSON (line 2, column 7: Unexpected token 'g')"],
      ['{"b": geheim, "submissions": [{"a": 1}]}', {}, "not JSON (line 1, column 7: Unexpected token 'g')"],
    ];
    for (const [text, more, complaint] of refusals) {
      await expect(bring(text, more), complaint).rejects.toMatchObject({
        code: "usage",
        message: expect.stringContaining(complaint) as string,
      });
    }
    expect(await stored()).toEqual([]);
    expect(await rowsOf(db, "SELECT * FROM imported_row")).toEqual([]);
  });

  test("columns are named by --map, also one that is left out, and encodings by their mark or name", async () => {
    const { bring, stored } = await bakery(await temporary());
    const map = ["Wann=created_at", "Wer=name", "email="];
    const text = "Wann;Wer;email\n31.01.2026 10:00;José;not read\n";
    await bring(Buffer.from(text, "latin1"), { map, encoding: "windows-1252" });
    await bring(Buffer.from(`\ufeff${text.replace("José", "Zoë")}`, "utf16le"), { map });
    await bring(`\ufeff${text.replace("José", "Åsa")}`, { map });
    expect((await stored()).map(([data]) => data)).toEqual([
      { name: "José" },
      { name: "Zoë" },
      { name: "Åsa" },
    ]);
  });

  test("exports of the services are read as they write them", async () => {
    const db = await temporary();
    const { bring, stored } = await bakery(db);
    await write(db, "UPDATE workspace SET time_zone = 'Europe/Berlin'");
    // The answer of Formspree's API; its CSV has the same names.
    const formspree = {
      fields: ["_id", "_date", "name"],
      submissions: [{ _date: "2026-01-01T07:28:29.707632", _id: 2, name: "Formspree", email: "a@b.co" }],
    };
    await bring(JSON.stringify(formspree), { format: "formspree" });
    const netlify = [
      {
        id: "5f",
        number: 1,
        body: "x",
        created_at: "2026-01-02T10:00:00.000Z",
        site_url: "x",
        data: { name: "Netlify", ip: "192.0.2.7", days: ["Fri"] },
      },
    ];
    await bring(JSON.stringify(netlify), { format: "netlify" });
    await bring("id,created_at,name,vegan\n9,2026-01-03 10:00:00 UTC,Basin,on\n", { format: "basin" });
    await bring('"Timestamp","Name","Days"\n"2026/01/04 11:00:00 AM GMT+1","Google","Fri;Sat"\n', {
      format: "google",
    });
    await bring("Zeitstempel,Name\n05.01.2026 11:00:00,Google2\n", { format: "google" });
    expect(await stored()).toEqual([
      [{ name: "Formspree", email: "a@b.co" }, "2026-01-01T07:28:29.707Z", "formspree"],
      [{ name: "Netlify", days: ["Fri"] }, "2026-01-02T10:00:00.000Z", "netlify"],
      [{ name: "Basin", vegan: true }, "2026-01-03T10:00:00.000Z", "basin"],
      [{ name: "Google", days: ["Fri", "Sat"] }, "2026-01-04T10:00:00.000Z", "google"],
      [{ name: "Google2" }, "2026-01-05T10:00:00.000Z", "google"],
    ]);
    const addresses = await rowsOf(db, "SELECT ip_address FROM submission WHERE imported_from = 'netlify'");
    expect(addresses).toEqual([{ ip_address: "192.0.2.7" }]);
  });

  test("columns are found by the labels of fields, and cells stand apart by comma, semicolon, tab or bar", async () => {
    const db = await temporary();
    const { bring, stored, endpoint } = await bakery(db);
    const labelled: SchemaDefinition = {
      name: { type: "string", label: "Ihr Name" },
      days: { type: "array", label: "Tage", items: { type: "string", enum: ["Fri", "Sat"] } },
    };
    await db.transaction(() => changeSchema(endpoint, labelled, NOON));
    for (const [index, separator] of [",", ";", "\t", "|"].entries()) {
      const rows = [
        ["created_at", "IHR NAME", "Tage", "Other"],
        [`2026-01-31T1${index}:00:00Z`, `"${separator} and ${separator}"`, `"Fri|Sat"`, "x"],
      ];
      const done = await bring(rows.map((cells) => cells.join(separator)).join("\r\n"));
      expect(done, separator).toEqual({ rows: 1, imported: 1, known: 0, refused: [], unmapped: ["Other"] });
    }
    expect((await stored()).map(([data]) => data)).toEqual(
      [",", ";", "\t", "|"].map((separator) => ({
        name: `${separator} and ${separator}`,
        days: ["Fri", "Sat"],
      })),
    );
  });

  test("of JSON, what is no object is refused with its place, and Basin's fields stand in payload_params or beside the rest", async () => {
    const { bring, stored } = await bakery(await temporary());
    const row = { id: 1, created_at: "2026-01-31T10:00:00Z" };
    const text = JSON.stringify([
      { ...row, payload_params: { name: "Ana", id: "a field of theirs", days: ["Fri"] } },
      7,
      null,
      ["Bo"],
      "Cy",
      { ...row, id: 2, name: "Di" },
      { ...row, id: 3, payload_params: "none", name: "Ed" },
    ]);
    const told = await bring(text, { format: "basin" });
    expect(told.refused).toEqual(
      [2, 3, 4, 5].map((line) => ({ line, field: null, message: "expected an object" })),
    );
    expect([told.rows, told.imported]).toEqual([7, 3]);
    expect((await stored()).map(([data]) => data)).toEqual([
      { name: "Ana", days: ["Fri"] },
      { name: "Di" },
      { name: "Ed" },
    ]);
  });

  test("of more than 1,000 rows that do not fit the first 1,000 are told, all are counted, and the rest is imported", async () => {
    const { bring, stored } = await bakery(await temporary());
    const lines = Array.from({ length: 1300 }, (_, index) =>
      index % 13 === 12 ? `2026-01-31T10:00:00Z,V${index}` : `2026-01-31T10:00:00Z,`,
    );
    const told = await bring(`created_at,name\n${lines.join("\n")}\n`);
    expect([told.rows, told.imported, told.known, told.refused.length]).toEqual([1300, 100, 0, 1000]);
    expect(told.refused.at(0)).toEqual({ line: 2, field: "name", message: "name is required" });
    expect(told.refused.at(-1)).toMatchObject({ line: 1084 });
    expect(await stored()).toHaveLength(100);
  });

  test("an import ends if its form is deleted, or whoever imports loses it, in the middle", async () => {
    for (const lose of ["DELETE FROM endpoint", "DELETE FROM member"]) {
      const db = await temporary();
      const { shop, actor } = await bakery(db);
      const line = (index: number): string => `2026-01-31T10:00:00Z,Visitor ${index}`;
      const lines = Array.from({ length: 1200 }, (_, index) => line(index));
      const parts = tableOf(`created_at,name\n${lines.join("\n")}\n`);
      const told: unknown[] = [];
      const onProgress = async (progress: unknown): Promise<void> => {
        told.push(progress);
        await write(db, lose);
      };
      const input = { endpoint: shop.endpoint, format: "csv" } as const;
      await expect(performOn(db, importTable, input, { actor, parts, onProgress })).rejects.toMatchObject({
        code: "not_found",
      });
      expect(told).toEqual([{ done: 500, total: 1200 }]);
      const kept = await rowsOf(db, "SELECT id FROM submission WHERE imported_from IS NOT NULL");
      expect(kept).toHaveLength(lose.endsWith("endpoint") ? 0 : 500);
    }
  });

  test("nothing comes into a form that whoever imports does not reach", async () => {
    const db = await temporary();
    const { hers, actor } = await bakery(db);
    const parts = tableOf("created_at,name\n2026-01-31T10:00:00Z,Ana\n");
    const input = { endpoint: hers.endpoint, format: "csv" } as const;
    await expect(performOn(db, importTable, input, { actor, parts })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
