import { describe, expect, test } from "vitest";
import { type Database, query } from "../../src/database/database.ts";
import { run } from "../../src/database/steps.ts";
import type { Language } from "../../src/languages/language.ts";
import { askHolder, type AskOutcome, createConfirmationLinks } from "../../src/mail/recipients/ask-holder.ts";
import { readAsked } from "../../src/mail/recipients/agree-to-mail.ts";
import { addMailRecipient } from "../support/mail-recipients.ts";
import {
  defaultMailRecipientSettings,
  type MailRecipient,
} from "../../src/mail/recipients/mail-recipient.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { makeEndpoint } from "../support/terminal.ts";

const BASE_URL = "https://forms.example.com";

/** An endpoint, and recipients of it who have not agreed. */
async function addRecipients(db: Database, count: number): Promise<MailRecipient[]> {
  const { workspace } = await db.transaction(() => insertAccountRows("owner@example.com", NOON));
  const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
  const place = { workspace: workspace.id, plans: defaultConfig.plans, now: NOON };
  const { endpoint } = await makeEndpoint(db, made, place);
  const recipients: MailRecipient[] = [];
  for (let number = 0; number < count; number += 1) {
    const settings = { ...defaultMailRecipientSettings, address: `r${number}@example.org` };
    const given = { endpointId: endpoint.id, settings, isConfirmed: false };
    recipients.push(await db.transaction(() => addMailRecipient(given, NOON)));
  }
  return recipients;
}

function ask(
  db: Database,
  recipient: MailRecipient,
  account: string,
  { isOperator = false, language = "en" }: { isOperator?: boolean; language?: Language } = {},
): Promise<AskOutcome> {
  const asker = { accountId: account, email: `${account}@example.com`, isOperator };
  const question = { recipient, endpointName: "Contact", language, asker, baseUrl: BASE_URL, perHour: 5 };
  return db.transaction(() => askHolder(question, NOON));
}

describe.each(ENGINES)("asking holders of addresses on $name", ({ temporary }) => {
  test("all accounts but operators share one limit of an hour, however many ask at once", async () => {
    const db = await temporary();
    const recipients = await addRecipients(db, 12);
    const ended = await Promise.allSettled(
      recipients.slice(0, 10).map((recipient, number) => ask(db, recipient, `acct${number}`)),
    );
    const asked = ended.filter((each) => each.status === "fulfilled" && each.value === "written").length;
    // On PostgreSQL one that met others too often is told to try again.
    expect(asked).toBeLessThanOrEqual(5);
    for (const [number, recipient] of recipients.slice(0, 10).entries())
      await ask(db, recipient, `acct${number}`);
    const count = await rowsOf<{ letters: number }>(db, "SELECT count(*) AS letters FROM letter");
    expect(count[0]?.letters).toBe(5);
    const [, last] = recipients.slice(10);
    if (last === undefined) throw new Error("none");
    expect(await ask(db, last, "acct99")).toBe("refused");
    expect(await ask(db, last, "operator", { isOperator: true })).toBe("written");
  });

  test("the letter and the words on its link are in the endpoint's language", async () => {
    const db = await temporary();
    const [one, two] = await addRecipients(db, 2);
    if (one === undefined || two === undefined) throw new Error("none");
    await db.transaction(() => run(query.updateTable("endpoint").set({ language: "de" })));
    await ask(db, one, "acct1", { language: "de" });
    await ask(db, two, "operator", { isOperator: true, language: "de" });
    const rows = await rowsOf<{ content: string }>(db, "SELECT content FROM letter ORDER BY id");
    expect(rows.map(({ content }) => (JSON.parse(content) as { subject: string }).subject).sort()).toEqual([
      "Möchten Sie die Einsendungen eines Formulars auf forms.example.com erhalten?",
      "Möchten Sie die Einsendungen von Contact erhalten?",
    ]);
    for (const { content } of rows) expect(content).toContain("Der Link gilt 7 Tage.");
    const linkOf = createConfirmationLinks({ db, clock: createFakeClock(), baseUrl: BASE_URL });
    expect((await linkOf(one.id))?.label).toBe("Ansehen und zustimmen");
  });

  test("a question that waits is not written twice, and its link has a token that lies in no table", async () => {
    const db = await temporary();
    const [recipient] = await addRecipients(db, 1);
    if (recipient === undefined) throw new Error("none");
    expect(await ask(db, recipient, "acct1")).toBe("written");
    expect(await ask(db, recipient, "acct1")).toBe("waiting");
    const rows = await rowsOf<{ content: string }>(db, "SELECT content FROM letter");
    expect(rows).toHaveLength(1);
    const linkOf = createConfirmationLinks({ db, clock: createFakeClock(), baseUrl: BASE_URL });
    const link = await linkOf(recipient.id);
    const token = link?.url.split("/").at(-1) ?? "";
    expect((await db.read(() => readAsked(recipient.id, token, NOON))).id).toBe(recipient.id);
    const stored = JSON.stringify(await rowsOf(db, "SELECT * FROM letter"));
    expect(stored).not.toContain(token);
    expect(await linkOf("rcpt_gone")).toBeNull();
  });
});
