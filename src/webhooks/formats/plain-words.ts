import type { ChatMessage } from "./chat-message.ts";

/**
 * What chats make of a text without being asked: mentions that call people, links, and the Markdown of links and pictures. Each service
 * has its own rules and most have no way to escape, so a character that nobody sees takes these texts apart. Visitors cannot send it:
 * {@link ChatMessage} has none.
 */
const BREAK = "\u200b";

/** An e-mail address by itself stays whole, so that it can be copied. No service takes it for a mention. */
const ADDRESS =
  /(?<![\w.+@:/-])[A-Za-z0-9](?:[\w.+-]*[A-Za-z0-9])?@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?![\w@:/?#-]|\.\w)/g;

/** Where a text is taken apart: after each of these. */
const JOINTS: readonly RegExp[] = [
  // https://github.com/mattermost/mattermost (mention_parser_standard.go) and Rocket.Chat (MentionsParser.ts): the name follows at once.
  /@/g,
  // The end of a link's text in Markdown, and of the name that a definition has.
  /\]/g,
  // A scheme: `https://`, `tel:1`, `javascript:`.
  /(?<=\p{L}):(?=\S)/gu,
  /\/(?=\/)/g,
  // A host without a scheme, with each of the characters that count as a dot in one.
  /(?<=[\p{L}\p{N}])[.。．｡](?=\p{L})/gu,
  /(?<=\d)\.(?=\d{1,3}\.\d{1,3}\.\d)/g,
  // A command of Telegram's.
  /(?<=^|\s)\/(?=\p{L})/gu,
];

/** The message for a chat that makes links and mentions of what it shows. */
export function inPlainWords({ title, lines, ...link }: ChatMessage): ChatMessage {
  return {
    title: takeApart(title),
    lines: lines.map(({ label, value }) => ({ label: takeApart(label), value: takeApart(value) })),
    ...link,
  };
}

function takeApart(text: string): string {
  let plain = "";
  let end = 0;
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    plain += breakAll(text.slice(end, index)) + address;
    end = index + address.length;
  }
  return plain + breakAll(text.slice(end));
}

function breakAll(text: string): string {
  return JOINTS.reduce((plain, joint) => plain.replace(joint, `$&${BREAK}`), text);
}
