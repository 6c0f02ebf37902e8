import { expect, test } from "vitest";
import { composeLetter } from "../../src/mail/compose-letter.ts";
import { composeNotification } from "../../src/mail/compose-notification.ts";
import { composeSummary } from "../../src/mail/compose-summary.ts";

const id = "msg_01h455vb4pex5vsknk084sn02q";
const base = { id, from: "forms@example.com", to: "owner@example.org" };
const event = Buffer.from(
  JSON.stringify({
    event: "submission.created",
    timestamp: "2026-11-22T09:00:00.000Z",
    endpoint: { id: "ep_1", name: "Contact" },
    submission: {
      id: "sub_1",
      data: { name: "Ada", email: "ada@example.org" },
      created_at: "2026-11-22T09:00:00.000Z",
    },
  }),
);

const shared = { ...base, dashboardUrl: null, unsubscribeUrl: null };

test("a notification names the form, holds the fields, and its answer goes to the visitor", () => {
  const mail = composeNotification({ ...shared, subjectTemplate: null, emailFields: ["email"] }, event);
  const text = mail.toString("latin1");
  expect(text).toContain(`Message-ID: <${id}@example.com>\r\n`);
  expect(text).toContain('From: "Contact"\r\n <forms@example.com>\r\n');
  expect(text).toContain("Reply-To: <ada@example.org>\r\n");
  expect(text).toContain("Subject: New submission: Contact\r\n");
  expect(text).toContain("name: Ada\r\nemail: ada@example.org");
});

test("a summary holds every submission", () => {
  const text = composeSummary(shared, [event, event], 3).toString("latin1");
  expect(text).toContain("Subject: 3 new submissions: Contact\r\n");
  expect(text).toContain("And 1 more.");
});

test("a letter holds its paragraphs and its link", () => {
  const link = { label: "Confirm", url: "https://forms.example.com/confirm/abc" };
  const letter = { ...base, fromName: "formsvc", subject: "Confirm", paragraphs: ["Hello."], link };
  const text = composeLetter({ ...letter, origin: "auto-generated" }).toString("latin1");
  expect(text).toContain("Hello.\r\n\r\nConfirm:\r\nhttps://forms.example.com/confirm/abc\r\n");
});
