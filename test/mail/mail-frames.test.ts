import { describe, expect, test } from "vitest";
import { keepFrame } from "../../src/mail/compose/mail-frames.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { fillEveryTable } from "../support/full-database.ts";

describe.each(ENGINES)("what e-mails are made of, in $name", ({ temporary }) => {
  test("is kept once for a delivery, and goes with it", async () => {
    const db = await temporary();
    await fillEveryTable(db);
    const [{ id } = { id: "" }] = await rowsOf<{ id: string }>(
      db,
      "SELECT id FROM delivery WHERE id NOT IN (SELECT delivery_id FROM mail_frame) LIMIT 1",
    );
    const keep = (subject: string) => db.transaction(() => keepFrame(id, { subject }));
    expect(await keep("one")).toEqual({ subject: "one" });
    expect(await keep("two")).toEqual({ subject: "one" });
  });

  test("is not kept for a message that was deleted meanwhile, which fails nothing", async () => {
    const db = await temporary();
    expect(await db.transaction(() => keepFrame("msg_gone", { subject: "one" }))).toEqual({ subject: "one" });
    expect(await rowsOf(db, "SELECT * FROM mail_frame")).toEqual([]);
  });
});
