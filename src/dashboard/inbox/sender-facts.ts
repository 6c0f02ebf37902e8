import { plainLines, plainText } from "../../foundation/plain-text.ts";

/** An address that can be answered, and that a mail program reads as exactly one recipient. */
const ANSWERABLE = /^[^\s@,;:<>()[\]\\"?&%#]{1,64}@[^\s@,;:<>()[\]\\"?&%#]{1,190}$/;

/** The address for an answer: the first field that is an e-mail address; null if there is none. */
export function replyAddressOf(data: Readonly<Record<string, unknown>>): string | null {
  const found = Object.values(data).find(
    (value): value is string =>
      typeof value === "string" && ANSWERABLE.test(value) && plainText(value) === value,
  );
  return found ?? null;
}

/** The longest text of the post, which is most likely the message; empty if there is no text. */
export function longestText(data: Readonly<Record<string, unknown>>): string {
  const texts = Object.values(data).filter((value) => typeof value === "string");
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
}

interface Letter {
  readonly address: string;
  readonly subject: string;
  /** The text that is quoted. A long text is cut. */
  readonly quoted: string;
}

/** A link that opens the mail program with a new message to the address, which quotes the text. */
export function mailLink({ address, subject, quoted }: Letter): string {
  const [local = "", domain = ""] = address.split("@");
  const to = `${encodeURIComponent(local)}@${encodeURIComponent(domain)}`;
  const about = encodeURIComponent(plainText(subject.toWellFormed()));
  const lines = quoted.trim() === "" || quoted === address ? "" : `&body=${quoteOf(quoted)}`;
  return `mailto:${to}?subject=${about}${lines}`;
}

/** The largest number of characters of the link for the quotation. Some mail programs accept 2,000 for the whole link. */
const MAX_QUOTE = 1500;
const CUT = encodeURIComponent("…");

/** Two empty lines to write in, and the text with `> ` before each line; encoded for a link. */
function quoteOf(text: string): string {
  const start = plainLines(text.slice(0, MAX_QUOTE).toWellFormed()).trim();
  let quote = encodeURIComponent("\r\n\r\n> ");
  for (const char of start) {
    const next = encodeURIComponent(char === "\n" ? "\r\n> " : char);
    if (quote.length + next.length > MAX_QUOTE) return quote + CUT;
    quote += next;
  }
  return text.length > MAX_QUOTE ? quote + CUT : quote;
}

const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdgA?\/(\d+)/],
  ["Opera", /\bOPR\/(\d+)/],
  ["Samsung Internet", /\bSamsungBrowser\/(\d+)/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /\b(?:Chrome|CriOS)\/(\d+)/],
  ["Safari", /\bVersion\/(\d+)[^ ]* (?:Mobile\/\w+ )?Safari\//],
];

const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ["Windows", /\bWindows\b/],
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Mac", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
];

/** The longest name that is shown of a program that is not a known browser. */
const MAX_SHOWN = 100;

/** A name like `Firefox 140 on Linux`, or the client's own text; null if it sent none. */
export function browserOf(userAgent: string): string | null {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([, known]) => known.test(userAgent))?.[0];
    return `${name} ${version}${system === undefined ? "" : ` on ${system}`}`;
  }
  const shown = plainText(userAgent).slice(0, MAX_SHOWN);
  return shown === "" ? null : shown;
}
