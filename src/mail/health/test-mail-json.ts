import { z } from "zod";
import type { TestMail } from "./send-test-mail.ts";

export const testMailShape = z.strictObject({
  message_id: z.string(),
  to: z.string(),
  stage: z
    .string()
    .describe("The last step of the dialogue with the mail server; `done` if it took the e-mail."),
  outcome: z.string().describe("`delivered`, or the kind of failure."),
  code: z.number().nullable().describe("The code of the last reply of the mail server; null if none came."),
  message: z.string(),
  duration_ms: z.number(),
});

/** The result of a test e-mail as every JSON output shows it. */
export function testMailJson({
  messageId,
  to,
  outcome,
  message,
  result: { stage, reply, durationMs },
}: TestMail): z.output<typeof testMailShape> {
  const facts = { stage, outcome, code: reply?.code ?? null, message, duration_ms: durationMs };
  return { message_id: messageId, to, ...facts };
}
