import { expect, test } from "vitest";
import { newId } from "../../src/foundation/id.ts";
import { composeNotification, type Notification } from "../../src/mail/compose/compose-notification.ts";
import { readMail } from "../support/read-mail.ts";

const NOTIFICATION: Notification = {
  id: newId("msg", Date.UTC(2026, 10, 22)),
  from: "forms@example.com",
  to: "owner@example.org",
  language: "en",
  timeZone: "UTC",
  subjectTemplate: null,
  emailFields: [],
  dashboardUrl: "https://forms.example.com/dashboard",
  unsubscribeUrl: "https://forms.example.com/u/1",
};

/** As the outbox stores it. */
const eventOf = (data: object, beside: object = {}): string =>
  JSON.stringify({
    event: "submission.created",
    timestamp: "2026-11-22T09:41:00.000Z",
    endpoint: { id: newId("ep", 1), name: "Contact" },
    submission: {
      id: "sub_01h455vb4pex5vsknk084sn02r",
      data,
      unknown_fields: beside,
      spam_score: 12,
      created_at: "2026-11-22T09:41:00.000Z",
    },
  });

test("the HTML part of an e-mail has a heading, muted labels and a button, and loads nothing", () => {
  const { html } = readMail(composeNotification(NOTIFICATION, eventOf({ name: "Ada" })));
  expect(html).toMatch(/<h1 [^>]*font-size:20px[^>]*>New submission: Contact<\/h1>/);
  expect(html).toMatch(/<p dir="auto" class="m" style="[^"]*color:#5d636b">name<\/p>/);
  expect(html).toMatch(
    /<a href="[^"]*" class="b" style="[^"]*background-color:#0b6e5f[^"]*">Open the submission<\/a>/,
  );
  // How to stop them stands below the letter.
  expect(html.indexOf(">Unsubscribe<")).toBeGreaterThan(html.indexOf(">Open the submission<"));
  expect(html).not.toMatch(/<(?:img|link|script)|src=|url\(|@import|@font-face/);
});

test("mail programs find no link in what a visitor wrote, and all of it in the text part", () => {
  const data = {
    email: "lena@lund.example",
    message:
      "See https://evil.example/a?b, evil.example, evil。example, tel:+1900, mailto:x@y.example or http://192.0.2.7/",
    "https://name.example": "1",
    price: "4.80",
  };
  const asked = { ...NOTIFICATION, subjectTemplate: "{message}" };
  const { html, text } = readMail(composeNotification(asked, eventOf(data)));
  const shown = html.replaceAll(/<a .*?<\/a>|<(style|title)>[^]*?<\/\1>|<[^>]*>/gs, "");
  expect(shown).not.toMatch(/[^\s\u200b]@|[a-z]:[^\s\u200b]|\/\/|[\p{L}\d][.。]\p{L}|\d\.\d+\.\d+\.\d/u);
  expect(shown).toContain("4.80");
  expect(shown).toContain("lena\u200b@lund\u200b.example");
  for (const value of Object.values(data)) expect(text).toContain(value);
  expect(text).not.toContain("\u200b");
});

test("an e-mail stays below 1 MiB with as many fields as a post has room for", () => {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  const names = Array.from({ length: 8000 }, (_, index) =>
    [index % 26, Math.floor(index / 26) % 26, Math.floor(index / 676)].map((each) => letters[each]).join(""),
  );
  const fields = (from: number) =>
    Object.fromEntries(names.slice(from, from + 4000).map((name) => [name, ""]));
  const raw = composeNotification(NOTIFICATION, eventOf(fields(0), fields(4000)));
  expect(raw.length).toBeLessThan(1_048_576);
});

test("what is ours in an e-mail is in its language, and runs from right to left in Arabic", () => {
  const body = eventOf({ name: "Ada" }, { more: "x" });
  const german = readMail(composeNotification({ ...NOTIFICATION, language: "de" }, body));
  expect(german.header("subject")).toBe("Neue Einsendung: Contact");
  expect(german.html).toContain('<html lang="de" dir="ltr">');
  for (const text of [
    "Nicht unter den Feldern des Formulars",
    "Eingegangen: 2026-11-22 09:41 UTC, Spam-Punkte: 12.",
    "Einsendung öffnen",
    "Abbestellen",
  ])
    expect([german.html, german.text]).toEqual([
      expect.stringContaining(text),
      expect.stringContaining(text),
    ]);
  const arabic = readMail(composeNotification({ ...NOTIFICATION, language: "ar" }, body));
  expect(arabic.html).toContain('<html lang="ar" dir="rtl">');
  expect(arabic.html).toContain('<td align="right" class="c t"');
});

test("values are in the recipient's language, several answers side by side, and lines begin where the e-mail does", () => {
  const file = { id: newId("fil", 1), name: "cv.pdf", size: 3072, type: "application/pdf", sha256: "" };
  const data = {
    agree: true,
    news: false,
    days: ["Fri", 7, true],
    none: [],
    home: { city: "Ulm" },
    cv: [file, { ...file, state: "infected", verdict: "Eicar" }, { ...file, state: "scanning" }],
  };
  const mailIn = (language: "de" | "ar") =>
    readMail(composeNotification({ ...NOTIFICATION, language }, eventOf(data, { extra: [true, "x"] })));
  const { text, html } = mailIn("de");
  for (const line of [
    "agree: ja",
    "news: nein",
    "days: Fri, 7, ja",
    "none: []",
    'home: {"city":"Ulm"}',
    "cv: cv.pdf (3 KB), cv.pdf (3 KB, gelöscht: hatte den Virus Eicar), cv.pdf (3 KB, wird auf Viren geprüft)",
    "extra: ja, x",
  ])
    expect(text.split("\n")).toContain(line);
  expect(html).toContain("Fri, 7, ja");
  // Its heading, its fields, and what came beside them.
  expect(html.match(/<(?:h1|table)[^>]*text-align:left/g)).toHaveLength(3);
  expect(mailIn("ar").html.match(/<(?:h1|table)[^>]*text-align:right/g)).toHaveLength(3);
});
