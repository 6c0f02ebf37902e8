import { describe, expect, test } from "vitest";
import { DAY_MS } from "../../src/foundation/time-units.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { importTable } from "../../src/submissions/import/import-table.ts";
import { bakery, tableOf } from "../support/bakery.ts";
import { ENGINES, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { changeSchema, performOn } from "../support/terminal.ts";

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("our own table for people comes back with its times, in the zone of its heading, and fields of one label in their order", async () => {
    const db = await temporary();
    const { bring, stored, endpoint } = await bakery(db);
    const label = "Name";
    const schema: SchemaDefinition = {
      first: { type: "string", label },
      second: { type: "string", label },
      third: { type: "string", label },
    };
    await db.transaction(() => changeSchema(endpoint, schema, NOON));
    const text =
      "When (America/St_Johns),Form,Name,Name (2),Name (3),Id\r\n2026-01-31 10:30:00,Shop,a,b,c,sub_1\r\n";
    await bring(text, { map: ["Id="] });
    expect(await stored()).toEqual([
      [{ first: "a", second: "b", third: "c" }, "2026-01-31T14:00:00.000Z", "csv"],
    ]);
    await write(db, "DELETE FROM submission");
    await bring(text.replace("America/St_Johns", "UTC"), { map: ["Id=", "When (UTC)=created_at"] });
    expect((await stored())[0]?.[1]).toBe("2026-01-31T10:30:00.000Z");
    await expect(bring(text.replace("America/St_Johns", "Nowhere"))).rejects.toThrow("COLUMN=created_at");
  });

  test("a list without times is taken with the time of the import if that is said, and is the same list the next time", async () => {
    const db = await temporary();
    const { bring, stored, endpoint } = await bakery(db);
    const contacts = "name,email\nAna,ana@example.org\nBo,bo@example.org\nBo,bo@example.org\n";
    for (const dry_run of [true, false])
      await expect(bring(contacts, { dry_run })).rejects.toThrow(
        "or give all of them the time of the import",
      );
    const told = { rows: 3, imported: 3, known: 0, refused: [], unmapped: [] };
    expect(await bring(contacts, { without_times: true, dry_run: true })).toEqual(told);
    expect(await bring(contacts, { without_times: true })).toEqual(told);
    const times = (await stored()).map(([, time]) => time);
    expect(times).toEqual(Array.from({ length: 3 }, () => new Date(NOON).toISOString()));
    const later = { parts: tableOf(`${contacts}Cy,\n`), now: NOON + DAY_MS };
    const input = { endpoint, format: "csv", without_times: true } as const;
    expect(await performOn(db, importTable, input, later)).toMatchObject({ imported: 1, known: 3 });
    // A time that is there counts, and one that cannot be read is not replaced.
    const dated = "created_at,name\n2026-01-31T10:00:00Z,Di\nyesterday,Ed\n";
    expect(await bring(dated, { without_times: true })).toMatchObject({
      imported: 1,
      refused: [{ line: 3, field: "created_at" }],
    });
    expect((await stored())[0]).toEqual([{ name: "Di" }, "2026-01-31T10:00:00.000Z", "csv"]);
  });
});
