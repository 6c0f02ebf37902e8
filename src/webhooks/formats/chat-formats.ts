import { chatText, type ChatMessage, MAX_MESSAGE_LENGTH } from "./chat-message.ts";
import type { ChatFormatName } from "./format.ts";
import { inPlainWords } from "./plain-words.ts";

/** One request to the service of a chat. */
interface ChatRequest {
  readonly url: string;
  readonly method: "POST" | "PUT";
  readonly document: Readonly<Record<string, unknown>>;
}

interface Target {
  /** The address as the owner gave it. */
  readonly url: string;
  readonly messageId: string;
}

/** How a message about a submission is sent to a service. Each format names the address of the service's documentation. */
export interface ChatFormat {
  /** Returns what is wrong with an address that cannot belong to the service; null if nothing is. */
  readonly findProblem: (url: URL) => string | null;
  readonly render: (message: ChatMessage, target: Target) => ChatRequest;
}

export const CHAT_FORMATS: Readonly<Record<ChatFormatName, ChatFormat>> = {
  /**
   * https://api.slack.com/messaging/webhooks; https://api.slack.com/reference/surfaces/formatting#escaping has the three characters to
   * escape. Mattermost and Rocket.Chat accept the same document. These two cannot escape mentions and Markdown, and Rocket.Chat refuses a
   * message that mentions everybody.
   */
  slack: chat((message) => ({
    text: chatText(inPlainWords(message), escapeHtmlChar, MAX_MESSAGE_LENGTH),
    unfurl_links: false,
    unfurl_media: false,
  })),

  /**
   * https://discord.com/developers/docs/resources/webhook#execute-webhook: at most 2,000 characters; `parse: []` notifies nobody, and the flag
   * SUPPRESS_EMBEDS has no address fetched for a preview.
   */
  discord: chat((message) => ({
    content: chatText(message, escapeMarkdownChar, 2000),
    allowed_mentions: { parse: [] },
    flags: 4,
  })),

  /**
   * https://core.telegram.org/bots/api#sendmessage: without `parse_mode`, Markdown has no effect, but links and mentions are recognised.
   */
  telegram: {
    findProblem: (url) =>
      /^\/bot[^/]+\/sendMessage$/.test(url.pathname) && url.searchParams.get("chat_id")
        ? null
        : "is not like https://api.telegram.org/bot<TOKEN>/sendMessage?chat_id=<CHAT>",
    render(message, { url }) {
      const address = new URL(url);
      const given = Object.fromEntries(address.searchParams);
      address.search = "";
      const text = chatText(inPlainWords(message), asItIs, MAX_MESSAGE_LENGTH);
      const document = { ...given, text, link_preview_options: { is_disabled: true } };
      return { url: address.href, method: "POST", document };
    },
  },

  /**
   * https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook: a message with an Adaptive Card. A RichTextBlock takes no
   * Markdown (https://adaptivecards.io/explorer/RichTextBlock.html).
   */
  teams: chat((message) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: adaptiveCard(message),
      },
    ],
  })),

  /** https://developers.google.com/workspace/chat/quickstart/webhooks: at most 4,096 characters; `<users/all>` would notify everybody. */
  "google-chat": chat((message) => ({
    text: chatText(inPlainWords(message), breakMention, MAX_MESSAGE_LENGTH),
  })),

  /**
   * https://docs.ntfy.sh/publish/#publish-as-json: the message goes to the address without the topic. A message of more than 4,096 bytes
   * would become a file.
   */
  ntfy: {
    findProblem: (url) => (topicOf(url) === "" ? "does not end with the topic" : null),
    render(sent, { url }) {
      const message = inPlainWords(sent);
      const address = new URL(url);
      const topic = topicOf(address);
      address.pathname = address.pathname.slice(0, -topic.length - (address.pathname.endsWith("/") ? 1 : 0));
      const text = chatText(withoutTitle(message), asItIs, 3900, (part) => Buffer.byteLength(part));
      const click = message.link === null ? {} : { click: message.link };
      return {
        url: address.href,
        method: "POST",
        document: { topic, title: message.title, message: text, ...click },
      };
    },
  },

  /** https://gotify.net/docs/pushmsg; https://gotify.net/docs/msgextras has the setting for text without Markdown. */
  gotify: chat((sent) => {
    const message = inPlainWords(sent);
    return {
      title: message.title,
      message: chatText(withoutTitle(message), asItIs, MAX_MESSAGE_LENGTH),
      priority: 5,
      extras: { "client::display": { contentType: "text/plain" } },
    };
  }),

  /**
   * https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid: the id of our message is the
   * transaction id, so that a repeated attempt adds no second message.
   */
  matrix: {
    findProblem: ({ pathname }) =>
      /^\/_matrix\/client\/v3\/rooms\/[^/]+\/send\/m\.room\.message$/.test(pathname)
        ? null
        : "is not like https://matrix.example/_matrix/client/v3/rooms/<ROOM>/send/m.room.message",
    render(message, { url, messageId }) {
      const address = new URL(url);
      // Before the query: some servers take the access token there.
      address.pathname += `/${messageId}`;
      return {
        url: address.href,
        method: "PUT",
        document: {
          msgtype: "m.text",
          body: chatText(inPlainWords(message), asItIs, MAX_MESSAGE_LENGTH),
          "m.mentions": {},
        },
      };
    },
  },

  /** https://github.com/caronc/apprise-api#api-details: `/notify/<KEY>`. */
  apprise: chat((sent) => {
    const message = inPlainWords(sent);
    return {
      title: message.title,
      body: chatText(withoutTitle(message), asItIs, MAX_MESSAGE_LENGTH),
      type: "info",
      format: "text",
    };
  }),
};

/** A format whose document is sent to the address that the owner gave. */
function chat(render: (message: ChatMessage) => Readonly<Record<string, unknown>>): ChatFormat {
  return {
    findProblem: () => null,
    render: (message, { url }) => ({ url, method: "POST", document: render(message) }),
  };
}

/** The message for a service that shows the title by itself. */
function withoutTitle(message: ChatMessage): ChatMessage {
  const [first, ...rest] = message.lines;
  if (first === undefined) return message;
  return { ...message, title: `${first.label}: ${first.value}`, lines: rest };
}

function adaptiveCard({ title, lines, link, linkText }: ChatMessage): Readonly<Record<string, unknown>> {
  const paragraph = (runs: readonly object[]) => ({ type: "RichTextBlock", inlines: runs });
  const plain = (text: string) => ({ type: "TextRun", text });
  const bold = (text: string) => ({ ...plain(text), weight: "Bolder" });
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      paragraph([bold(title)]),
      ...lines.map(({ label, value }) => paragraph([bold(`${label}: `), plain(value)])),
    ],
    ...(link !== null && { actions: [{ type: "Action.OpenUrl", title: linkText, url: link }] }),
  };
}

function topicOf({ pathname }: URL): string {
  return pathname.replace(/\/$/, "").split("/").at(-1) ?? "";
}

function asItIs(char: string): string {
  return char;
}

const HTML_CHARS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function escapeHtmlChar(char: string): string {
  return HTML_CHARS[char] ?? char;
}

/** Adds a backslash before punctuation: it is not shown, and the character loses its meaning. */
function escapeMarkdownChar(char: string): string {
  return /[\\*_~`|<>#\-[\]():@]/.test(char) ? `\\${char}` : char;
}

/** Google Chat has no escape, so a zero-width space keeps `<` from beginning a mention. */
function breakMention(char: string): string {
  return char === "<" ? "<\u200b" : char;
}
