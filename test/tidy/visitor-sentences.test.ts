import { transformSync } from "esbuild";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { listFiles, readText } from "./repository.ts";

/** The folders that make pages, sentences and letters for people who did not choose this service. */
const FOLDERS =
  /^src\/(?:http|mail|languages|browser(?!\/dashboard)|schemas|submissions|webhooks)\/(?!.*(?:texts\/|generated)).*\.ts$/;
/** What such a file imports, unless it is for browsers: markup or the texts of the languages. */
const SPEAKS =
  /from "(?:\.\.?\/)+(?:foundation\/html|languages\/\w+|(?:visitors\/)?visitor-page|(?:compose\/)?mail-parts)\.ts"/;
/** Of these files, the ones whose readers are owners and developers. */
const FOR_OWNERS = new Set([
  "src/mail/auto-reply/auto-reply-transport.ts",
  "src/mail/letters/letter-store.ts",
  "src/mail/recipients/mail-recipient-store.ts",
  "src/mail/recipients/recipient-operations.ts",
  "src/schemas/form-snippets.ts",
]);

/** Texts that are not sentences for visitors, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  "Thank you. Your answers were received.": "formsvc.js, if a server of an earlier version says nothing",
  "Network error": "the `error` of an answer",
  "Unknown answer": "the `error` of an answer",
  "Challenge required": "the `error` of an answer",
  "Something went wrong. Please try again.":
    "a `message` for developers; visitors read that the server cannot be reached",
  " · request ": "the line with the request's id may stay English",
  formsvc: "the product's name",
  "question to": "the name of a limit in the database",
  "questions of": "the name of a limit in the database",
  "\0 UTC": "a time zone's name",
  " https://hcaptcha.com https://*.hcaptcha.com": "a part of a policy",
  " checked": "an attribute",
  " required": "an attribute",
  " multiple": "an attribute",
  " selected": "an attribute",
};

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Errors speak to developers. Visitors get another text. */
const ERRORS = /^(?:FormsvcError|Error|TypeError)$/;
/** Attributes that people read. */
const READ_ATTRIBUTES = /\b(?:alt|title|aria-label|placeholder)="([^"]*)"/g;
const WORDS = /\p{L}{2,}[,;:.!?]? +\p{L}{2,}|\p{L}{2,}[.!?]$/u;
const A_WORD = /\p{L}{2,}/u;
/** Texts that are not sentences: style sheets, policies, headers and statements. */
const NO_SENTENCE =
  /[{}<>=]|^(?:[\w-]+-(?:src|action|ancestors) |SELECT |CASE |[\w-]+:[^ ]|\0;|Bearer |confirmation |[A-Z][\w-]*: (?:\0|All$|quoted-printable$))/;

/** Finds the literal sentences of a source, and each word between tags or in an attribute that people read, in the order of the code. */
function sentencesIn(source: string): string[] {
  const { code } = transformSync(source, { loader: "ts", charset: "utf8" });
  return textsOf(parseAst(code) as unknown as Node);
}

function textsOf(node: Node): string[] {
  const { type } = node;
  if (/^(?:Import|Export\w*From|ExportAll)/.test(type)) return [];
  if (type === "NewExpression" && ERRORS.test(String((node["callee"] as Node)["name"]))) return [];
  if (type === "Literal" && typeof node["value"] === "string") return plainTexts(node["value"]);
  if (type === "TaggedTemplateExpression") {
    const quasi = node["quasi"] as Node;
    const isMarkup = (node["tag"] as Node)["name"] === "html";
    return [...(isMarkup ? markupTexts : plainTexts)(quasisOf(quasi)), ...childrenOf(quasi).flatMap(textsOf)];
  }
  if (type === "TemplateLiteral")
    return [...plainTexts(quasisOf(node)), ...childrenOf(node).flatMap(textsOf)];
  return childrenOf(node).flatMap(textsOf);
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((each): each is Node => typeof (each as Node | null)?.type === "string");
}

/** The text of a template, with a NUL for each hole. */
function quasisOf(node: Node): string {
  return (node["quasis"] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("\0");
}

function plainTexts(text: string): string[] {
  if (NO_SENTENCE.test(text.replaceAll(/<[^<>]*>/g, ""))) return [];
  return text
    .split(/<[^<>]*>/)
    .filter((part) => WORDS.test(part.replaceAll("\0", "it")) && A_WORD.test(part));
}

function markupTexts(text: string): string[] {
  const tags = /<[^<>]*>/g;
  const read = [...text.matchAll(tags)].flatMap(([tag]) =>
    [...tag.matchAll(READ_ATTRIBUTES)].map(([, value = ""]) => value),
  );
  const isAttribute = !text.includes("<") && text.includes('="');
  const between = isAttribute ? [] : text.replaceAll(/<(style|script)\b[^]*?<\/\1>/g, "").split(tags);
  return [...between, ...read]
    .flatMap((part) => part.split("\0"))
    .filter((part) => A_WORD.test(part.replaceAll(/&\w+;/g, "")));
}

/** Lists the files whose words visitors read. */
function spokenFiles(): readonly string[] {
  return listFiles().filter(
    (path) =>
      FOLDERS.test(path) &&
      !FOR_OWNERS.has(path) &&
      (path.startsWith("src/browser/") || SPEAKS.test(readText(path).text)),
  );
}

test("a literal sentence is found in a text, in a template, between tags of a nested one, and in what a screen reader says", () => {
  const found = sentencesIn(`
    import { html } from "not a sentence";
    f("Thank you"); // not this one
    throw new FormsvcError("forbidden", "For a developer");
    text = \`Send \${x("Please wait")} again\`;
    note = "Note: this fails";
    russian = "Спасибо вам";
    page = html\`<p class="a b">Send \${ok ? html\`<b>Not for you</b>\` : ""}<img alt="A loaf"><button>Go</button></p>\`;
    rest = html\` data-mark="one two"\`;
  `);
  expect(found).toEqual([
    "Thank you",
    "Send \0 again",
    "Please wait",
    "Note: this fails",
    "Спасибо вам",
    "Send ",
    "Go",
    "A loaf",
    "Not for you",
  ]);
});

test("no sentence that visitors read is written outside of the languages", () => {
  const left = spokenFiles().flatMap((path) =>
    sentencesIn(readText(path).text)
      .filter((text) => !Object.hasOwn(ALLOWED, text))
      .map((text) => `${path}: ${text}`),
  );
  expect(left).toEqual([]);
});

test("pages, the form's own page, letters and formsvc.js are among those files, and each permission is needed", () => {
  const files = spokenFiles();
  expect(files).toEqual(
    expect.arrayContaining([
      "src/browser/enhance.ts",
      "src/browser/messages.ts",
      "src/browser/send.ts",
      "src/http/forms/form-page.ts",
      "src/http/mail-link-routes.ts",
      "src/http/forms/own-page-routes.ts",
      "src/http/forms/page-challenge.ts",
      "src/mail/auto-reply/compose-auto-reply.ts",
      "src/mail/compose/compose-notification.ts",
      "src/schemas/issue.ts",
      "src/webhooks/formats/chat-message.ts",
    ]),
  );
  const found = new Set(files.flatMap((path) => sentencesIn(readText(path).text)));
  expect(Object.keys(ALLOWED).filter((text) => !found.has(text))).toEqual([]);
});
