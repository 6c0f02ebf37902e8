import { describe, expect, test } from "vitest";
import { createHttpSender, destinationOf } from "../../../src/webhooks/send.ts";
import { parseAllowedNetworks } from "../../../src/webhooks/address-guard.ts";
import { createHostResolver } from "../../../src/webhooks/resolve-host.ts";
import { makeAttempt } from "../../../src/webhooks/attempt.ts";
import { CHAT_FORMATS } from "../../../src/webhooks/formats/chat-formats.ts";
import type { ChatFormatName } from "../../../src/webhooks/formats/format.ts";
import type { Language } from "../../../src/languages/language.ts";
import { newId } from "../../../src/foundation/id.ts";
import type { AttemptResult } from "../../../src/outbox/sending/transport.ts";
import { wordingIn } from "../../../src/languages/wording.ts";
import { type Received, startReceiverWith } from "../../support/receivers.ts";

interface Said {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** The path that a service's address has, behind the receiver's host. */
const PATHS: Readonly<Record<ChatFormatName, string>> = {
  slack: "/services/T0/B0/secret",
  discord: "/api/webhooks/1/secret",
  telegram: "/bot1:secret/sendMessage?chat_id=-100&message_thread_id=7",
  teams: "/workflows/secret?sig=x",
  "google-chat": "/v1/spaces/A/messages?key=k&token=t",
  ntfy: "/forms",
  gotify: "/message?token=secret",
  matrix: "/_matrix/client/v3/rooms/!a:example.org/send/m.room.message",
  apprise: "/notify/secret",
};

/** Of the form's fields. */
const LABELS = { day: "Day of collection" };

const FORMATS = Object.keys(CHAT_FORMATS) as ChatFormatName[];

/** Sends one notification to a real receiver that answers as the service would. */
async function tell(
  format: ChatFormatName,
  data: Record<string, unknown>,
  answers: readonly Said[] = [{}],
  { language = "en", beside }: { language?: Language; beside?: Record<string, unknown> } = {},
): Promise<{ result: AttemptResult; received: readonly Received[]; document: Record<string, unknown> }> {
  await using receiver = await startReceiverWith((response, _received, index) => {
    const { status = 200, body = "", headers = {} } = answers[Math.min(index, answers.length - 1)] ?? {};
    response.writeHead(status, headers).end(body);
  });
  const allowed = parseAllowedNetworks(["127.0.0.1"]);
  const sender = createHttpSender({ allowed, timeoutMs: 5000, resolveHost: createHostResolver() });
  const event = {
    event: "submission.created",
    endpoint: { id: "ep_1", name: "Contact" },
    submission: { id: "sub_1", data, ...(beside && { unknown_fields: beside }) },
  };
  const url = new URL(PATHS[format], receiver.url).href;
  const webhook = {
    url,
    destination: destinationOf(url),
    headers: { authorization: "Bearer own" },
    allowPrivate: true,
    maxSpamScore: 100,
    conditions: [],
    format,
    endpointId: "ep_1",
    addressMark: url,
    keys: [],
  };
  const message = { id: "msg_1", body: JSON.stringify(event) };
  const parts = {
    sender,
    dashboardUrl: "https://forms.example/dashboard",
    readFormWords: () => Promise.resolve({ labels: LABELS, language }),
    now: () => 1_790_000_000_000,
  };
  const result = await makeAttempt(parts, webhook, message);
  await sender.destroy();
  const last = receiver.received.at(-1);
  if (last === undefined) throw new Error("nothing arrived");
  return {
    result,
    received: receiver.received,
    document: JSON.parse(last.body.toString()) as Record<string, unknown>,
  };
}

/** All texts of a document, wherever they are. */
function textsOf(value: unknown): string {
  if (typeof value === "string") return `${value}\n`;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textsOf).join("");
}

const LINK = "https://forms.example/dashboard/submissions/sub_1";
/** What takes a visitor's links and mentions apart, without being seen. */
const HIDDEN = "\u200b";
const ada = { name: "Ada", message: "Are you open on Sunday?" };

describe.each(FORMATS)("%s", (format) => {
  test("shows the form, each field and the way to the submission, and sends the owner's own headers", async () => {
    const { document, received } = await tell(format, ada);
    const texts = textsOf(document).replaceAll("\\", "");
    for (const shown of ["Contact", "Ada", "Are you open on Sunday?", LINK]) expect(texts).toContain(shown);
    expect(received[0]?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: "Bearer own",
    });
  });

  test("calls a field by its label, and by its name if it has none", async () => {
    const { document } = await tell(format, { day: "2026-12-24", message: "Lemon" });
    const texts = textsOf(document).replaceAll("\\", "");
    expect(texts).toContain("Day of collection");
    expect(texts).toContain("message");
    expect(texts).not.toMatch(/\bday:/);
  });

  test("shows 64 KiB of one field, and a thousand fields, within the service's limit", async () => {
    for (const data of [
      { message: "界".repeat(65_536) },
      { message: "*".repeat(65_536) },
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field ${index}`, "x".repeat(60)])),
    ]) {
      const { document } = await tell(format, data);
      expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(20_000);
      expect(textsOf(document)).toContain(LINK);
    }
  });

  test("repeats the same document in each attempt", async () => {
    const [first, second] = [await tell(format, ada), await tell(format, ada)];
    expect(first.received[0]?.body).toEqual(second.received[0]?.body);
  });

  test("shows no character that hides or turns what a message says", async () => {
    const { document } = await tell(format, {
      "na\u202eme": "a\u0000b\u202ec\u2066d\u200be\u001b[31m",
      tags: `o${Array.from("pay", (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("")}k`,
      others: "s\u00ade\u180ee\u206an\u3164",
      lines: "one\u2028two\u0085three",
      heart: "\u2764\ufe0f",
    });
    const texts = textsOf(document).replaceAll("\\", "");
    expect(texts).not.toMatch(/[\u0000-\u0008\u001b\u202e\u2066\u2028\u0085]/);
    for (const shown of ["abcde[31m", "ok", "seen", "one\ntwo\nthree", "\u2764\ufe0f"])
      expect(texts).toContain(shown);
  });

  test("has names and sizes of files, neither their links nor mentions in their names", async () => {
    const cv = {
      id: newId("fil", 1),
      name: "<!channel>.pdf",
      size: 48_000,
      type: "application/pdf",
      sha256: "00",
      url: "https://forms.example/files/fil_1?until=1&sig=x",
      url_expires_at: "2026-03-04T12:00:00.000Z",
    };
    const { document } = await tell(format, { cv: [cv, { ...cv, name: "photo" }] });
    const text = JSON.stringify(document);
    expect(text).not.toContain("sig=");
    expect(textsOf(document).replaceAll("\\", "")).toContain("photo (47 KB)");
    expect(textsOf(document).replaceAll("\\", "")).toMatch(/channel(>|&gt;).*pdf \(47 KB\)/);
    if (format === "slack") expect(text).not.toContain("<!");
  });

  test("writes yes and no, several answers and what has become of a file in words, in the form's language", async () => {
    const file = { id: newId("fil", 1), name: "cv", size: 2048, type: "application/pdf", sha256: "00" };
    const data = {
      vegan: true,
      rush: false,
      days: ["Fr", "Sa"],
      cv: [
        { ...file, state: "scanning" },
        { ...file, state: "infected", verdict: "Eicar" },
      ],
    };
    const { document } = await tell(format, data, [{}], { language: "de", beside: { coupon: "7" } });
    // A card has label and value as texts of their own.
    const texts = textsOf(document)
      .replaceAll("\\", "")
      .replaceAll(/\s*\nBolder\nTextRun\n/g, " ")
      .replaceAll(HIDDEN, "");
    for (const said of [
      wordingIn("de").text("newSubmission", { form: "Contact" }),
      "vegan: ja",
      "rush: nein",
      "days: Fr, Sa",
      `cv (2 KB, ${wordingIn("de").text("stateScanning")})`,
      `cv (2 KB, ${wordingIn("de").text("stateVirus", { virus: "Eicar" })})`,
      `coupon (${wordingIn("de").text("beside")}): 7`,
    ])
      expect(texts).toContain(said);
    expect(texts).not.toMatch(/true|false|\["|New submission|scanned|not among/);
  });

  test("says what the service said when it refuses", async () => {
    const body = JSON.stringify({
      message: "no such hook",
      description: "no such hook",
      error: format === "google-chat" ? { message: "no such hook" } : "no such hook",
      errorDescription: "no such hook",
    });
    const { result } = await tell(format, ada, [{ status: 400, body }]);
    expect(result.blame).toBe("recipient");
    expect(result.answer).toContain("no such hook");
    if (format !== "teams") expect(result.message).toContain("no such hook");
  });
});

test("Slack gets its three characters escaped, and nothing that a stranger wrote becomes a mention or a link", async () => {
  const { document } = await tell("slack", { message: "<!channel> & <https://evil.example|here>" });
  expect(document).toEqual({
    text: `New submission: Contact\nmessage: &lt;!channel&gt; &amp; &lt;https:${HIDDEN}/${HIDDEN}/evil.${HIDDEN}example|here&gt;\n${LINK}`,
    unfurl_links: false,
    unfurl_media: false,
  });
});

test("Discord pings nobody, fetches no address for a preview, and shows Markdown as it was written", async () => {
  const { document } = await tell("discord", { message: "@everyone **x** [a](https://evil.example)" });
  expect(document).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
  expect(document["content"]).toContain("\\@everyone \\*\\*x\\*\\* \\[a\\]\\(https\\://evil.example\\)");
  expect(
    String((await tell("discord", { message: "*".repeat(5000) })).document["content"]).length,
  ).toBeLessThanOrEqual(2000);
});

test("Telegram gets plain text for the chat of the address, without a preview", async () => {
  const { document, received } = await tell("telegram", { message: "<b>x</b>" }, [{ body: '{"ok":true}' }]);
  expect(received[0]?.path).toBe("/bot1:secret/sendMessage");
  expect(document).toEqual({
    chat_id: "-100",
    message_thread_id: "7",
    text: `New submission: Contact\nmessage: <b>x</b>\n${LINK}`,
    link_preview_options: { is_disabled: true },
  });
});

test("Teams gets an Adaptive Card whose texts take no Markdown", async () => {
  const { document } = await tell("teams", { message: "**x**" });
  const [attachment] = document["attachments"] as {
    contentType: string;
    content: { body: object[]; actions: object[] };
  }[];
  expect(attachment?.contentType).toBe("application/vnd.microsoft.card.adaptive");
  expect(attachment?.content.body[1]).toEqual({
    type: "RichTextBlock",
    inlines: [
      { type: "TextRun", text: "message: ", weight: "Bolder" },
      { type: "TextRun", text: "**x**" },
    ],
  });
  expect(attachment?.content.actions).toEqual([
    { type: "Action.OpenUrl", title: "Open the submission", url: LINK },
  ]);
});

test("Google Chat gets no mention of all", async () => {
  const { document } = await tell("google-chat", { message: "<users/all>" });
  expect(document["text"]).not.toContain("<users/all>");
});

test("ntfy gets its document at the address without the topic, in at most 4,096 bytes", async () => {
  const { document, received } = await tell("ntfy", { message: "界".repeat(5000) });
  expect(received[0]?.path).toBe("/");
  expect(document).toMatchObject({ topic: "forms", title: "New submission: Contact", click: LINK });
  expect(Buffer.byteLength(String(document["message"]))).toBeLessThanOrEqual(4096);
});

test("only Gotify's 401 speaks about our token", async () => {
  const blames = [];
  for (const status of [400, 403, 500]) blames.push((await tell("gotify", ada, [{ status }])).result.blame);
  expect(blames).toEqual(["recipient", "recipient", "recipient"]);
  expect((await tell("ntfy", ada, [{ status: 401 }])).result.blame).toBe("recipient");
});

test("Gotify gets text that is shown without Markdown", async () => {
  const { document } = await tell("gotify", ada);
  expect(document["extras"]).toEqual({ "client::display": { contentType: "text/plain" } });
});

test("Matrix gets each message under its own id, so that a repeated attempt is one message", async () => {
  const { document, received } = await tell("matrix", ada);
  expect(received[0]).toMatchObject({ method: "PUT", path: `${PATHS.matrix}/msg_1` });
  expect(document).toMatchObject({ msgtype: "m.text", "m.mentions": {} });
});

test("Matrix may have its token in the query of the address, which stays the last part of it", () => {
  const url = `https://matrix.example${PATHS.matrix}?access_token=t`;
  const message = { title: "New submission", lines: [], link: null, linkText: "" };
  expect(CHAT_FORMATS.matrix.render(message, { url, messageId: "msg_1" }).url).toBe(
    `https://matrix.example${PATHS.matrix}/msg_1?access_token=t`,
  );
});

describe("what an answer means", () => {
  const cases: readonly (readonly [ChatFormatName, string, Said, Partial<AttemptResult>])[] = [
    ["slack", "ok", { body: "ok" }, { outcome: "delivered", blame: "nobody", answer: null }],
    [
      "slack",
      "another word with 200",
      { body: "no_text" },
      { outcome: "refused_by_receiver", blame: "recipient" },
    ],
    ["slack", "Rocket.Chat's success", { body: '{"success":true}' }, { outcome: "delivered" }],
    ["slack", "a hook that was removed", { status: 404, body: "no_service" }, { outcome: "gone" }],
    [
      "slack",
      "a channel that was archived",
      { status: 410, body: "channel_is_archived" },
      { outcome: "gone" },
    ],
    ["slack", "too many", { status: 429, headers: { "retry-after": "30" } }, { retryAfterMs: 30_000 }],
    ["discord", "no content", { status: 204 }, { outcome: "delivered" }],
    ["discord", "an unknown webhook", { status: 404, body: '{"code":10015}' }, { outcome: "gone" }],
    ["discord", "too many", { status: 429, body: '{"retry_after":1.5}' }, { retryAfterMs: 1500 }],
    ["telegram", "ok", { body: '{"ok":true,"result":{}}' }, { outcome: "delivered" }],
    [
      "telegram",
      "ok with the text of a long message",
      { body: JSON.stringify({ ok: true, result: { text: "ж".repeat(3500) } }) },
      { outcome: "delivered", blame: "nobody", answer: null },
    ],
    [
      "telegram",
      "not ok with a long text",
      { body: JSON.stringify({ ok: false, description: '"ok":true,'.repeat(500) }) },
      { outcome: "refused_by_receiver" },
    ],
    [
      "telegram",
      "not ok with 200",
      { body: '{"ok":false,"description":"x"}' },
      { outcome: "refused_by_receiver" },
    ],
    [
      "telegram",
      "a bot that was blocked",
      { status: 403, body: '{"description":"Forbidden: bot was blocked"}' },
      { outcome: "gone" },
    ],
    [
      "telegram",
      "a chat that is not there",
      { status: 400, body: '{"description":"Bad Request: chat not found"}' },
      { outcome: "gone" },
    ],
    [
      "telegram",
      "too many",
      { status: 429, body: '{"parameters":{"retry_after":7}}' },
      { retryAfterMs: 7000 },
    ],
    [
      "telegram",
      "a wait of years",
      { status: 429, body: '{"parameters":{"retry_after":1e300}}' },
      { retryAfterMs: 86_400_000 },
    ],
    ["teams", "accepted", { status: 202 }, { outcome: "delivered" }],
    ["gotify", "a wrong token", { status: 401 }, { outcome: "refused_by_receiver", blame: "access" }],
    [
      "matrix",
      "too many",
      { status: 429, body: '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2000}' },
      { retryAfterMs: 2000 },
    ],
    [
      "matrix",
      "no JSON at all",
      { status: 502, body: "<html>" },
      { outcome: "refused_by_receiver", retryAfterMs: null },
    ],
  ];

  test.each(cases)("%s: %s", async (format, _what, said, expected) => {
    expect((await tell(format, ada, [said])).result).toMatchObject(expected);
  });

  test("a Telegram group that became another is followed, once", async () => {
    const moved = { status: 400, body: '{"parameters":{"migrate_to_chat_id":-100200}}' };
    const { result, received, document } = await tell("telegram", ada, [moved, { body: '{"ok":true}' }]);
    expect([result.outcome, received.length, document["chat_id"]]).toEqual(["delivered", 2, "-100200"]);
    const endless = await tell("telegram", ada, [moved]);
    expect([endless.result.blame, endless.received.length]).toEqual(["recipient", 2]);
  });
});

test.each([
  ["telegram", "https://api.telegram.org/bot1:a/sendMessage"],
  ["telegram", "https://api.telegram.org/bot1:a?chat_id=1"],
  ["ntfy", "https://ntfy.example/"],
  ["matrix", "https://matrix.example/"],
] as const)("%s refuses an address that the service cannot have: %s", (format, url) => {
  expect(CHAT_FORMATS[format].findProblem(new URL(url))).not.toBeNull();
});
