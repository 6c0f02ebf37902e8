import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { all, run, text } from "../../src/database/steps.ts";
import { mailboxOf } from "../../src/mail/auto-reply/automatic-address.ts";
import { isSuppressed, REPLY_SQL } from "../../src/mail/auto-reply/auto-reply-store.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import { defaultMailRecipientSettings } from "../../src/mail/recipients/mail-recipient.ts";
import { setUnsubscribed } from "../../src/mail/recipients/mail-recipient-store.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";

async function unsubscribe(db: Database, endpointId: string, address: string): Promise<void> {
  const settings = { ...defaultMailRecipientSettings, address };
  await db.transaction(function* () {
    const made = { endpointId, settings, isConfirmed: true };
    yield* setUnsubscribed((yield* addMailRecipient(made, NOON)).id, NOON);
  });
}

const SPELLINGS = [
  "eve.smith@example.net",
  "Eve.Smith@Example.NET",
  "evesmith@example.net",
  "e.v.e.smith+forms@example.net",
  "evesmith+a.b+c@example.net",
];
const OTHERS = [
  "eve@example.net",
  "evesmith@mail.example.net",
  "evesmith@examplenet",
  "eve_smith@example.net",
  "eve-smith@example.net",
  "smith+eve@example.net",
  "%@example.net",
];

describe.each(ENGINES)("who wants no e-mail, on $name,", ({ name, temporary }) => {
  test("gets no reply under another spelling of the mailbox either, and nobody else is taken for them", async () => {
    for (const stored of SPELLINGS) {
      const db = await temporary();
      await unsubscribe(db, (await addPlace(db)).endpointId, stored);
      const asked = [...SPELLINGS, ...OTHERS];
      const found: string[] = [];
      for (const address of asked) if (await db.read(() => isSuppressed(address))) found.push(address);
      expect(found, stored).toEqual(SPELLINGS);
    }
  });

  test("is found whatever characters the address has", async () => {
    const db = await temporary();
    const { endpointId } = await addPlace(db);
    const addresses = [
      "a!#$%&'*/=?^_`{|}~-z@x.example",
      "+only@x.example",
      "1+2@xn--bcher-kva.example",
      "o'n@y",
    ];
    for (const address of addresses) {
      expect(await db.read(() => isSuppressed(address)), address).toBe(false);
      await unsubscribe(db, endpointId, address);
      expect(await db.read(() => isSuppressed(mailboxOf(address))), address).toBe(true);
    }
  });

  test("is found by an index", async () => {
    const db = await temporary();
    const plan = await db.transaction(function* () {
      if (name === "SQLite") return yield* all(text(`EXPLAIN QUERY PLAN ${REPLY_SQL.byMailbox.sqlite}`, ""));
      yield* run(text("SET LOCAL enable_seqscan = off"));
      return yield* all(text(`EXPLAIN ${REPLY_SQL.byMailbox.postgresql}`, ""));
    });
    expect(JSON.stringify(plan)).toContain("mail_recipient_by_mailbox");
  });
});
