import { describe, expect, test } from "vitest";
import { CHAT_FORMATS } from "../../../src/webhooks/formats/chat-formats.ts";
import { readChatMessage } from "../../../src/webhooks/formats/chat-message.ts";
import type { ChatFormatName } from "../../../src/webhooks/formats/format.ts";

/** What a visitor may write to call people. */
const CALLS = [
  "@all",
  "hello @here!",
  "(@channel)",
  "a.@all",
  "x-@channel.com",
  "mail@all. @all.",
  "*@all*",
  "> @all",
  "@all:matrix.example",
  "a@all@all.example",
  "x:@room",
  "/start",
];

/** What a visitor may write to have a link shown, openly or behind other words. */
const LINKS = [
  "https://evil.example/pay",
  "HTTP://EVIL.EXAMPLE",
  "see www.evil.example now",
  "evil.example",
  "evil。example",
  "evil.\u00adexample",
  "evil.\ufe0fexample",
  "evil\u0301.example",
  "evil.example/pay",
  "1.2.3.4/pay",
  "ftp://evil.example",
  "[Sign in](https://evil.example)",
  "![picture](https://evil.example/pixel.png)",
  "[Sign in](//evil.example)",
  "[Sign in][1]\n[1]: //evil.example",
  "<https://evil.example|Sign in>",
  "javascript:alert(1)",
  "tel:+15551234",
  "evil.example@evil.example/pay",
  "mailto:a@evil.example?bcc=b",
];

/** Texts that form owners need as they are. */
const KEPT = [
  "ana@example.org",
  "Write to ana.ruiz+site@mail.example.org, please.",
  "10:30",
  "1,234.50 €",
  "and/or",
  "Yes. No: 5",
];

const FORMATS = (Object.keys(CHAT_FORMATS) as ChatFormatName[]).filter(
  // These two say in the document that a text has neither, or escape it.
  (format) => format !== "teams" && format !== "discord",
);

const URLS: Readonly<Partial<Record<ChatFormatName, string>>> = {
  telegram: "https://api.telegram.org/bot1:s/sendMessage?chat_id=1",
  ntfy: "https://ntfy.example/topic",
  matrix: "https://matrix.example/_matrix/client/v3/rooms/r/send/m.room.message",
};

/** The words that the format shows of this, as a field's value and as its name. */
function shown(format: ChatFormatName, text: string): string {
  const event = {
    endpoint: { name: "Contact" },
    submission: { id: "sub_1", data: { field: text, [text]: "x" } },
  };
  const message = readChatMessage(JSON.stringify(event), { dashboardUrl: null, labels: {}, language: "en" });
  const url = URLS[format] ?? "https://chat.example/hook";
  const { document } = CHAT_FORMATS[format].render(message, { url, messageId: "msg_1" });
  const { title = "", text: words = "", message: said = "", body = "" } = document as Record<string, string>;
  return [title, words, said, body].join("\n");
}

/** As Mattermost's `mention_parser_standard.go` finds them on the server, which notifies. */
function mattermostCalls(text: string): string[] {
  const words = text.split(/[^:.\-_@\p{L}\p{N}]+/u).map((word) => word.replace(/^[:.\-_]+/, ""));
  const parts = words.flatMap((word) => word.split(/[.\-:]+/).concat(word, word.replace(/[.\-:_]+$/, "")));
  return parts.filter((part) => /^@./.test(part));
}

/** As Rocket.Chat's `MentionsParser.ts` does, whose server refuses a message with `all`. */
function rocketChatCalls(text: string): string[] {
  return [...text.matchAll(/(^|\s|>)@([0-9a-zA-Z-_.]+(@([0-9a-zA-Z-_.]+))?(:([0-9a-zA-Z-_.]+))?)/gm)].map(
    ([call]) => call,
  );
}

/** Any name that follows an @ that follows no name: broader than what Telegram, Matrix and what is behind Apprise look for. */
function otherCalls(text: string): string[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}])@[\p{L}\p{N}]|(?<=^|\s)\/\p{L}/gmu)].map(([call]) => call);
}

/** A scheme, a host without one (unless an e-mail address has it), or the Markdown of a link. Broader than any service's own rule. */
function linksIn(text: string): string[] {
  const withoutAddresses = text.replace(/(?<![\w.@:/])[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?![\w@:/?#-])/g, "");
  // Browsers drop some marks from hosts.
  return [
    ...withoutAddresses
      .replace(/\p{M}/gu, "")
      .matchAll(/\p{L}:[^\s\u200b]|\/\/|[\p{L}\p{N}][.。．｡]\p{L}|\d\.\d+\.\d+\.\d|\][([:]|\]\s*\[/gu),
  ].map(([link]) => link);
}

/** Without the format's own words, which have a colon behind each name. */
const withoutEscapes = (text: string): string => text.replaceAll(/&(?:lt|gt|amp);/g, " ");

describe.each(FORMATS)("in %s, what a visitor wrote", (format) => {
  test.each(CALLS)("calls nobody: %s", (call) => {
    const text = shown(format, call);
    expect([mattermostCalls(text), rocketChatCalls(text), otherCalls(text)]).toEqual([[], [], []]);
  });

  test.each(LINKS)("is no link: %s", (link) => {
    expect(linksIn(withoutEscapes(shown(format, link)))).toEqual([]);
  });

  test.each(KEPT)("can be read and copied: %s", (text) => {
    expect(shown(format, text)).toContain(text);
  });
});

test("a text of the worst kind is taken apart in linear time", () => {
  const before = process.cpuUsage();
  for (const worst of [
    "a.".repeat(500),
    "@".repeat(1000),
    "a@a.".repeat(250),
    "a-".repeat(500),
    "a@" + "a-a.".repeat(249),
    ".\u0301".repeat(500),
    "\u0301".repeat(999) + ".",
  ])
    for (const format of FORMATS) shown(format, worst);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
