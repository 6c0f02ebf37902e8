import { expect, onTestFinished, test } from "vitest";
import { classifyMail } from "../../src/mail/classify-mail.ts";
import { createSmtpSender, type SmtpSender } from "../../src/mail/smtp-sender.ts";
import type { SmtpSettings } from "../../src/mail/smtp-settings.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";

function senderWith(settings: SmtpSettings): SmtpSender {
  const sender = createSmtpSender(settings);
  onTestFinished(() => sender.close());
  return sender;
}

const raw = Buffer.from("Subject: Hello\r\n\r\n.A line with a dot\r\n");

test("a mail that the server takes is done, with the server's words, and arrives as it was", async () => {
  const server = await startMailServer();
  const sender = senderWith(plainSettings(server.port));
  const result = await sender.send({ to: "ada@example.org", raw });
  expect(result).toMatchObject({ stage: "done", reply: { code: 250, text: "queued" }, problem: null });
  expect(classifyMail(result)).toMatchObject({ outcome: "delivered", blame: "nobody" });
  expect(server.received).toEqual([{ from: "forms@example.com", to: ["ada@example.org"], raw }]);
});
