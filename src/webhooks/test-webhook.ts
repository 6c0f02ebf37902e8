import { z } from "zod";
import { type Context, operation } from "../operations/operation.ts";
import { countAction } from "../outbox/queue/account-limits.ts";
import { limitedAccountOf } from "../recipients/limited-account.ts";
import { reachRecipient } from "../recipients/reach-recipient.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { hideNetwork } from "./hide-network.ts";
import type { HttpSender } from "./send.ts";
import { sendTest, TEST_DATA } from "./send-test.ts";
import type { TestSlots } from "./test-slots.ts";
import { testResultJson, testResultShape } from "./webhook-json.ts";
import { webhookReference } from "./webhook-operations.ts";
import { WEBHOOKS } from "./webhook-store.ts";

interface Parts {
  readonly keyring: Keyring;
  readonly sender: Pick<HttpSender, "send">;
  readonly testSlots: TestSlots;
  /** The address of the dashboard for people; null if it is not known. */
  readonly dashboardUrl: string | null;
}

/** Sends a test. Accounts have an hourly limit, which failed tests count against too. */
export const testWebhook = operation({
  name: "webhook.test",
  summary: "Send an invented submission to a webhook once, now, of which nothing is stored",
  kind: "write",
  access: "recipients:write",
  input: z.strictObject({
    ...webhookReference,
    data: z.record(z.string(), z.unknown()).default(TEST_DATA).describe("The fields of the submission."),
  }),
  output: testResultShape,
  async run(context: Context<Parts>, { webhook: id, data }) {
    const { db, parts, actor, viewing, now } = context;
    const { recipient, endpoint } = await db.read(() => reachRecipient(context, WEBHOOKS, id));
    const account = limitedAccountOf(actor);
    return parts.testSlots.run(account?.accountId ?? null, async () => {
      // If a power cut loses the count, one more test can be sent. No other part of the server reads the count, so the commit need not wait
      // for the disk.
      if (account !== null) await db.relaxedTransaction(() => countAction(account, "test", 1, now));
      const message = { webhook: recipient, endpointName: endpoint.name, data };
      const result = await sendTest({ ...parts, db }, message, now);
      return testResultJson(hideNetwork(result, viewing.isOperator));
    });
  },
});
