import type { ChatMessage } from "./chat-message.ts";

/**
 * Breaks up texts that chats turn into something else by themselves: mentions, which notify people, links, and the Markdown of links and
 * images. Each service has its own rules, and most cannot escape, so an invisible character is put inside such texts. Visitors cannot send
 * it, because {@link ChatMessage} contains none.
 */
const BREAK = "\u200b";

/** An e-mail address by itself stays whole, so that it can be copied. No service recognises it as a mention. */
const ADDRESS =
  /(?<![\w.+@:/-])[A-Za-z0-9](?:[\w.+-]*[A-Za-z0-9])?@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?![\w@:/?#-]|\.\w)/g;

/** The invisible character is put after each match of these. */
const JOINTS: readonly RegExp[] = [
  // In https://github.com/mattermost/mattermost (mention_parser_standard.go) and Rocket.Chat (MentionsParser.ts), a name follows `@` at
  // once.
  /@/g,
  // The end of a link's text in Markdown, and of a definition's name.
  /\]/g,
  // A scheme: `https://`, `tel:1`, `javascript:`.
  /(?<=\p{L}):(?=\S)/gu,
  /\/(?=\/)/g,
  // A host without a scheme, with each of the characters that count as a dot in a host. A mark may stand beside it, because browsers drop some from hosts.
  /(?<=[\p{L}\p{N}]\p{M}*)[.。．｡](?=\p{M}*\p{L})/gu,
  /(?<=\d)\.(?=\d{1,3}\.\d{1,3}\.\d)/g,
  // A Telegram command.
  /(?<=^|\s)\/(?=\p{L})/gu,
];

/** The message for a chat that recognises links and mentions in texts. */
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
