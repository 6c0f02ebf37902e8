import { assert, oneof, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { timeOfId } from "../../src/foundation/id.ts";
import { composeLetter, type LetterMessage } from "../../src/mail/compose/compose-letter.ts";
import { composeNotification, type Notification } from "../../src/mail/compose/compose-notification.ts";
import { composeSummary } from "../../src/mail/compose/compose-summary.ts";
import { checkHeader } from "../../src/mail/compose/mail-header.ts";
import { quotedPrintable } from "../../src/mail/compose/quoted-printable.ts";
import type { SetAside } from "../../src/schemas/set-aside.ts";
import { renderBody } from "../../src/outbox/queue/event.ts";
import { HOSTILE_JSON, HOSTILE_TEXTS, LONGEST_TEXT } from "../support/hostile-values.ts";
import { type ReadMail, readMail } from "../support/read-mail.ts";

const id = "msg_01h455vb4pex5vsknk084sn02q";
const createdAt = Date.UTC(2026, 10, 22, 9, 41, 59);

function eventOf(data: unknown, endpointName = "Contact", setAside: SetAside | null = null): string {
  const submission = {
    id: "sub_01h455vb4pex5vsknk084sn02r",
    endpointId: "ep_1",
    spamScore: 12,
    ipAddress: "192.0.2.1",
    userAgent: "test",
    createdAt,
    setAside,
  };
  const json = typeof data === "string" ? data : JSON.stringify(data);
  return renderBody(submission, json, endpointName, createdAt);
}

const base: Notification = {
  id,
  from: "forms@example.com",
  to: "owner@example.org",
  language: "en",
  timeZone: "UTC",
  subjectTemplate: null,
  emailFields: ["email"],
  dashboardUrl: null,
  unsubscribeUrl: null,
};

function notify(data: unknown, change: Partial<Notification> = {}, endpointName = "Contact"): ReadMail {
  return readMail(composeNotification({ ...base, ...change }, eventOf(data, endpointName)));
}

const letter: LetterMessage = {
  id,
  from: "forms@example.com",
  fromName: "formsvc",
  to: "owner@example.org",
  subject: "Confirm your address",
  paragraphs: ["Somebody wants e-mail to be sent here.", "If that is you, follow the link."],
  link: { label: "Confirm", url: "https://forms.example.com/confirm/abc?x=1&y=2" },
  origin: "auto-generated",
};

describe("what is not among the fields of the form", () => {
  const heading = "Not among the fields of the form";
  const event = eventOf({ name: "Ada" }, "Contact", {
    fields: { allergies: "peanuts <b>", "person.age": 3 },
    dropped: 2,
  });

  test("stands under its own heading in both parts, after the fields, with how much is lost", () => {
    for (const mail of [composeNotification(base, event), composeSummary(base, [event], 1)]) {
      const { text, html } = readMail(mail);
      const lost = "Of what was sent, 2 values had no room and are lost.";
      expect(text).toContain(`name: Ada\n\n${heading}\n\nallergies: peanuts <b>\nperson.age: 3\n\n${lost}\n`);
      expect(html).toMatch(/Ada<\/p>[^]*Not among the fields of the form<\/h2>[^]*allergies<\/p>/);
      expect(html).toContain("peanuts &lt;b&gt;");
      expect(html).toContain(lost);
    }
  });

  test("is not told of if there is nothing", () => {
    const { text, html } = readMail(composeNotification(base, eventOf({ name: "Ada" })));
    expect(text + html).not.toContain(heading);
  });

  test("is no address to answer to, and no part of the subject", () => {
    const beside = { fields: { email: "eve@example.org", topic: "x" }, dropped: 0 };
    const mail = readMail(
      composeNotification({ ...base, subjectTemplate: "About {topic}" }, eventOf({}, "Contact", beside)),
    );
    expect(mail.header("reply-to")).toBe(null);
    expect(mail.header("subject")).toBe("About");
  });
});

describe("a notification", () => {
  const urls = {
    dashboardUrl: "https://forms.example.com/dashboard",
    unsubscribeUrl: "https://forms.example.com/u/1",
  };

  test("has every field in both parts, the form as its sender's name, and the visitor as who gets the answer", () => {
    const mail = notify(
      { name: "Ada", email: "ada@Example.org", message: "One\nTwo\n", ok: true, n: [1] },
      urls,
    );
    expect(mail.headers).toEqual([
      ["Message-ID", `<${id}@example.com>`],
      ["Date", new Date(timeOfId(id)).toUTCString().replace("GMT", "+0000")],
      ["From", '"Contact" <forms@example.com>'],
      ["To", "<owner@example.org>"],
      ["Reply-To", "<ada@example.org>"],
      ["Subject", "New submission: Contact"],
      ["Auto-Submitted", "auto-generated"],
      ["X-Auto-Response-Suppress", "All"],
      ["X-Formsvc-Submission", "sub_01h455vb4pex5vsknk084sn02r"],
      ["List-Unsubscribe", "<https://forms.example.com/u/1>"],
      ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
      ["MIME-Version", "1.0"],
      ["Content-Type", `multipart/alternative; boundary="=_${id}"`],
    ]);
    expect(mail.text).toBe(
      [
        "name: Ada",
        "email: ada@Example.org",
        "message:\nOne\nTwo\n",
        "",
        "ok: yes",
        "n: 1",
        "",
        "Received 2026-11-22 09:41 UTC, spam score 12.",
        "",
        "Open the submission:",
        "https://forms.example.com/dashboard/submissions/sub_01h455vb4pex5vsknk084sn02r",
        "",
        "Unsubscribe:",
        "https://forms.example.com/u/1",
        "",
      ].join("\n"),
    );
    for (const words of ["Ada", "ada\u200b@Example\u200b.org", "One\nTwo", ">yes<", ">1<"])
      expect(mail.html).toContain(words);
    expect(linksOf(mail.html)).toEqual([
      "https://forms.example.com/dashboard/submissions/sub_01h455vb4pex5vsknk084sn02r",
      "https://forms.example.com/u/1",
    ]);
  });

  test("is the same bytes whenever it is composed", () => {
    const bytes = () => composeNotification({ ...base, ...urls }, eventOf({ name: "Ädä 🙂" }));
    expect(bytes()).toEqual(bytes());
  });

  test("has no link if no address of ours is known, and one click only over https", () => {
    const mail = notify({ a: "https://x-evil.example" });
    expect(linksOf(mail.html)).toEqual([]);
    expect(mail.header("list-unsubscribe")).toBeNull();
    const plain = notify({}, { unsubscribeUrl: "http://forms.example.com/u/1" });
    expect(plain.header("list-unsubscribe")).toBe("<http://forms.example.com/u/1>");
    expect(plain.header("list-unsubscribe-post")).toBeNull();
  });

  test.each([
    [{ email: "ada@example.org" }, ["email"], "<ada@example.org>"],
    [{ email: "ada@example.org", again: "ada@example.org" }, ["email", "again"], "<ada@example.org>"],
    [{ email: "", again: "ada@example.org" }, ["email", "again"], "<ada@example.org>"],
    [{ email: "ada@example.org", friend: "eve@example.org" }, ["email", "friend"], "<ada@example.org>"],
    [{ friend: "eve@example.org", email: "ada@example.org" }, ["email", "friend"], "<ada@example.org>"],
    [{ email: "Ada <ada@example.org>", friend: "eve@example.org" }, ["email", "friend"], null],
    [{ email: "ada@example.org" }, [], null],
    [{ name: "ada@example.org" }, ["email"], null],
    [{ email: ["ada@example.org"] }, ["email"], null],
    [{ email: { address: "ada@example.org" } }, ["email"], null],
    [{ email: "ada@example.org, eve@example.org" }, ["email"], null],
    [{ email: "Ada <ada@example.org>" }, ["email"], null],
    [{ email: '"ada@evil.example"@example.org' }, ["email"], null],
    [{ email: "ada@example.org\r\nBcc: eve@example.org" }, ["email"], null],
    [{}, ["toString", "__proto__"], null],
  ] as const)("about %j with the e-mail fields %j is answered to %s", (data, emailFields, replyTo) => {
    expect(notify(data, { emailFields: [...emailFields] }).header("reply-to")).toBe(replyTo);
  });

  test.each([
    ["{endpoint}: {name}", "Contact: Ada"],
    ["{name} writes {nothing}again", "Ada writes again"],
    ["{toString}{__proto__}{constructor}x", "x"],
    ["{n} of {list}", "3 of 1, 2"],
    ["{unknown}", "New submission: Contact"],
    ["  ", "New submission: Contact"],
    ["{", "{"],
    ["{na{name}me}", "{naAdame}"],
    ["{lines}", "one two three"],
    ["Ä {name}", "Ä Ada"],
    ["🙂".repeat(60), "🙂".repeat(60)],
    [`x${"🙂".repeat(60)}`, `x${"🙂".repeat(59)}…`],
    ["🙂".repeat(61), `${"🙂".repeat(59)}…`],
    ["=?UTF-8?B?eC1ldmls?=", "=?UTF-8?B?eC1ldmls?="],
  ])("with the subject %j has %j", (subjectTemplate, subject) => {
    const data = { name: "Ada", n: 3, list: [1, 2], lines: "one\r\ntwo\u2028three" };
    expect(notify(data, { subjectTemplate }).header("subject")).toBe(subject);
  });

  test("has a subject of at most 120 characters and a name of at most 80", () => {
    const mail = notify({}, { subjectTemplate: "s".repeat(500) }, "n".repeat(500));
    expect(mail.header("subject")).toBe(`${"s".repeat(119)}…`);
    expect(mail.header("from")).toBe(`${"n".repeat(79)}… <forms@example.com>`);
  });

  test("of 64 KiB is cut, says so, and stays below 1 MiB whatever it holds", () => {
    for (const char of ["x", "&", "Ω", "漢", "🙂", "\n", "=", " ", "\ud800"]) {
      const raw = composeNotification(base, eventOf({ message: char.repeat(64_000), more: "more" }));
      expect(raw.length).toBeLessThan(1_048_576);
      const note = "Only a part is shown here; all of it is kept as sub_01h455vb4pex5vsknk084sn02r.";
      expect(readMail(raw).text).toContain(note);
      expect(readMail(raw).html).toContain(note);
    }
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field ${index}`, index]));
    expect(notify(many).text).toContain("Only a part is shown here");
    expect(notify({ message: "x".repeat(9999) }).text).not.toContain("Only a part");
  });
});

describe("a summary", () => {
  const { subjectTemplate: _subject, emailFields: _fields, ...summary } = base;

  test("has the first fifty submissions with their times and links, and says how many more there are", () => {
    const dashboardUrl = "https://forms.example.com/dashboard";
    const events = Array.from({ length: 60 }, (_, index) => eventOf({ name: `Visitor ${index}.` }));
    const mail = readMail(composeSummary({ ...summary, dashboardUrl }, events, 73));
    expect(mail.header("subject")).toBe("73 new submissions: Contact");
    expect(mail.header("reply-to")).toBeNull();
    expect(mail.text).toContain("2026-11-22 09:41 UTC\n\nname: Visitor 0.\n");
    expect(mail.text).toContain("Visitor 49.");
    expect(mail.text).not.toContain("Visitor 50.");
    expect(mail.text).toContain("\nAnd 23 more.\n");
    expect(linksOf(mail.html)).toHaveLength(50);
  });

  test("stays below 1 MiB whatever the submissions hold", () => {
    const events = Array.from({ length: 50 }, () =>
      eventOf({ a: "漢".repeat(20_000), b: "&".repeat(20_000) }),
    );
    expect(composeSummary(summary, events, 50).length).toBeLessThan(1_048_576);
  });
});

test("a letter has its paragraphs and its link in both parts", () => {
  const mail = readMail(composeLetter(letter));
  expect(mail.header("subject")).toBe("Confirm your address");
  expect(mail.header("from")).toBe('"formsvc" <forms@example.com>');
  expect(mail.text).toBe(
    "Somebody wants e-mail to be sent here.\n\nIf that is you, follow the link.\n\nConfirm:\nhttps://forms.example.com/confirm/abc?x=1&y=2\n",
  );
  expect(linksOf(mail.html)).toEqual(["https://forms.example.com/confirm/abc?x=1&y=2"]);
  const reply = readMail(composeLetter({ ...letter, origin: "auto-replied", link: null }));
  expect(reply.header("auto-submitted")).toBe("auto-replied");
  expect(linksOf(reply.html)).toEqual([]);
});

describe("no text of a post or of the settings makes a header, a part, a link or markup", () => {
  const INJECTIONS: readonly string[] = [
    ...HOSTILE_TEXTS,
    "x-evil\r\nBcc: x-evil@x-evil.example",
    "x-evil\nBcc: x-evil@x-evil.example",
    "x-evil\rBcc: x-evil@x-evil.example",
    "x-evil\u2028Bcc: x-evil@x-evil.example",
    "x-evil\u0085Bcc: x-evil@x-evil.example",
    "x-evil\u0000\r\n\r\nbody",
    "x-evil\r\n.\r\nMAIL FROM:<x-evil@x-evil.example>",
    `x-evil\r\n--=_${id}\r\nContent-Type: text/html\r\n\r\n<x-evil>`,
    '"x-evil" <x-evil@x-evil.example>',
    'x-evil\\" <x-evil@x-evil.example>',
    "x-evil, Eve <x-evil@x-evil.example>",
    "=?UTF-8?B?DQpCY2M6IGV2ZUBldmlsLmV4YW1wbGU=?= x-evil",
    "From x-evil",
    ".x-evil",
    "x-evil {endpoint} {email}",
    LONGEST_TEXT,
  ];

  /** Where a text of a stranger, or of an owner, comes in. */
  const PLACES: Readonly<Record<string, (text: string) => Buffer>> = {
    "the value of a field": (text) => composeNotification(base, eventOf({ message: text, email: text })),
    "the name of a field": (text) => composeNotification(base, eventOf({ [text]: "value" })),
    "a value within a value": (text) => composeNotification(base, eventOf({ list: [{ [text]: text }] })),
    "the endpoint's name": (text) => composeNotification(base, eventOf({}, text)),
    "the template of the subject": (text) =>
      composeNotification({ ...base, subjectTemplate: text }, eventOf({})),
    "a field in the subject": (text) =>
      composeNotification({ ...base, subjectTemplate: "{message}" }, eventOf({ message: text })),
    "a summary": (text) => {
      const { subjectTemplate: _subject, emailFields: _fields, ...summary } = base;
      return composeSummary(summary, [eventOf({ [text]: text }, text)], 1);
    },
    "a letter": (text) =>
      composeLetter({ ...letter, fromName: text, subject: text, paragraphs: [text], link: null }),
  };
  const NAMES = [
    "Message-ID",
    "Date",
    "From",
    "To",
    "Subject",
    "Auto-Submitted",
    "X-Auto-Response-Suppress",
    "MIME-Version",
    "Content-Type",
  ];

  test.each(Object.entries(PLACES))("%s", (_name, compose) => {
    for (const text of INJECTIONS) {
      const raw = compose(text);
      const mail = readMail(raw);
      expect(
        mail.headers.map(([name]) => name).filter((name) => name !== "X-Formsvc-Submission"),
        text.slice(0, 100),
      ).toEqual(NAMES);
      expect(mail.header("from")).toMatch(/ ?<forms@example\.com>$/);
      expect(mail.header("to")).toBe("<owner@example.org>");
      for (const [, value] of mail.headers) expect(value).not.toMatch(UNSEEN);
      expect(mail.text).not.toMatch(UNSEEN);
      expect(mail.html).not.toMatch(UNSEEN);
      expect(tagsOf(mail.html), text.slice(0, 100)).toEqual([]);
      expect(linksOf(mail.html)).toEqual([]);
      expect(/\n(?:From |\.)/.test(raw.toString("latin1")), text.slice(0, 100)).toBe(false);
    }
  });

  test.each(HOSTILE_JSON)("%s", (json) => {
    const mail = readMail(composeNotification(base, eventOf(`{"value":${json}}`)));
    expect(mail.headers.map(([name]) => name).filter((name) => name !== "X-Formsvc-Submission")).toEqual(
      NAMES,
    );
    expect(tagsOf(mail.html)).toEqual([]);
  });

  test("what is no address is refused, and what is no header", () => {
    for (const address of ["", "x", "a@b>, <c@example.org", "a@example.org\r\nBcc: b@example.org"]) {
      expect(() => notify({}, { to: address })).toThrow(/^not an address/);
      expect(() => notify({}, { from: address })).toThrow(/^not an address/);
    }
    for (const header of [
      "",
      "A: b\r\nBcc: c",
      "A: b\nBcc: c",
      "A: b\r\n ",
      "A: \u0000",
      "A: ä",
      `A: ${"b".repeat(998)}`,
    ])
      expect(() => checkHeader(header === "A: b\r\n " ? "A: b\r\n\r\n c" : header)).toThrow(/^not a header/);
  });

  test("an address of ours stays whole and ASCII, and one that is too long for a header is left out", () => {
    const mail = notify({}, { unsubscribeUrl: "https://bücher.example/<a b>\u2028?ä" });
    expect(mail.header("list-unsubscribe")).toBe(
      "<https://xn--bcher-kva.example/%3Ca%20b%3E%E2%80%A8?%C3%A4>",
    );
    const long = notify({}, { unsubscribeUrl: `https://forms.example.com/${"u".repeat(2000)}` });
    expect(long.header("list-unsubscribe")).toBeNull();
  });
});

test("any text is quoted-printable in lines of at most 76 characters, and can be read back", () => {
  assert(
    property(oneof(string({ unit: "binary" }), string({ unit: "grapheme", maxLength: 400 })), (text) => {
      const encoded = quotedPrintable(text);
      for (const line of encoded.split("\r\n"))
        expect(line).toMatch(/^(?![.F])[\x20-\x7e]{0,75}[\x21-\x7e]?$/);
      const bytes = encoded
        .replace(/=\r\n/g, "")
        .replace(/\r\n/g, "\n")
        .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
      expect(Buffer.from(bytes, "latin1").toString()).toBe(text.toWellFormed());
    }),
  );
});

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/u;
const OURS =
  /^<(?:\/?(?:html|head|title|style|body|div|table|tr|th|td|p|h1|h2|a)\b[^<>]*|!doctype html|meta (?:charset|name)="[^<>]*)>$/;

/** Every tag that is not one of ours. */
function tagsOf(html: string): string[] {
  return [...html.matchAll(/<[^>]*>?/g)]
    .map(([tag]) => tag)
    .filter((tag) => !OURS.test(tag) || /\bon\w+=|\bsrc=/.test(tag));
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/href="([^"]*)"/g)].map(([, url = ""]) => url.replaceAll("&amp;", "&"));
}
