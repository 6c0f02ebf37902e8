import { z } from "zod";
import { FormsvcError } from "../../foundation/errors.ts";
import { changed, type Context, operation } from "../../operations/operation.ts";
import { countAction } from "../../outbox/queue/account-limits.ts";
import { changeOf } from "../../recipients/change-recipient.ts";
import { limitedAccountOf } from "../../recipients/limited-account.ts";
import { reachRecipient } from "../../recipients/reach-recipient.ts";
import { NOT_SET_UP } from "../health/mail-missing.ts";
import { MAIL_RECIPIENTS } from "./mail-recipient-store.ts";
import type { MailTests } from "../health/mail-tests.ts";
import { recipientReference } from "./recipient-operations.ts";
import { testMailJson, testMailShape } from "../health/test-mail-json.ts";

interface Parts {
  /** Null if no mail server is configured. */
  readonly mailTests: Pick<MailTests, "send"> | null;
}

/** Sends a test. Accounts have an hourly limit, and so has the address, for all accounts together. */
export const testRecipient = operation({
  name: "recipient.test",
  summary: "Send a recipient a test e-mail, now",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject(recipientReference),
  output: testMailShape,
  async run(context: Context<Parts>, { recipient: id }) {
    const { db, actor, now, parts } = context;
    const { recipient, endpoint } = await db.read(() => reachRecipient(context, MAIL_RECIPIENTS, id));
    const { address } = recipient.settings;
    if (parts.mailTests === null) throw new FormsvcError("unavailable", NOT_SET_UP);
    if (recipient.unsubscribedAt !== null || recipient.confirmedAt === null)
      throw new FormsvcError("conflict", `the holder of ${address} did not agree to get e-mail`);
    const account = limitedAccountOf(actor);
    const note = (): Promise<null> =>
      context.transact(function* () {
        if (account !== null) yield* countAction(account, "test", 1, now);
        return changed(null, changeOf(MAIL_RECIPIENTS, recipient, endpoint));
      });
    return testMailJson(await parts.mailTests.send(account?.accountId ?? "", address, note));
  },
});
