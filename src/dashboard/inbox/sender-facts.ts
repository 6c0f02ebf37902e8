import { plainLines, plainText } from "../../foundation/plain-text.ts";

/** An address that one can answer, of which a mail program makes one recipient and nothing else. */
const ANSWERABLE = /^[^\s@,;:<>()[\]\\"?&%#]{1,64}@[^\s@,;:<>()[\]\\"?&%#]{1,190}$/;

/** Where an answer goes: the first field that is an e-mail address; null if there is none. */
export function replyAddressOf(data: Readonly<Record<string, unknown>>): string | null {
  const found = Object.values(data).find(
    (value): value is string =>
      typeof value === "string" && ANSWERABLE.test(value) && plainText(value) === value,
  );
  return found ?? null;
}

/** What somebody wrote, as far as one text of the post is it; empty if there is no text. */
export function longestText(data: Readonly<Record<string, unknown>>): string {
  const texts = Object.values(data).filter((value) => typeof value === "string");
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
}

interface Letter {
  readonly address: string;
  readonly subject: string;
  /** What is answered; a long text is cut. */
  readonly quoted: string;
}

/** Opens the mail program with a new message to the address, which quotes what is answered. */
export function mailLink({ address, subject, quoted }: Letter): string {
  const [local = "", domain = ""] = address.split("@");
  const to = `${encodeURIComponent(local)}@${encodeURIComponent(domain)}`;
  const about = encodeURIComponent(plainText(subject.toWellFormed()));
  const lines = quoted.trim() === "" || quoted === address ? "" : `&body=${quoteOf(quoted)}`;
  return `mailto:${to}?subject=${about}${lines}`;
}

/** Of an address, characters for the quotation: some mail programs take 2,000 of an address in all. */
const MAX_QUOTE = 1500;
const CUT = encodeURIComponent("…");

/** Two empty lines to write in, and the text with `> ` before each line; encoded. */
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

/** Longest text of a program that is not a known browser. */
const MAX_SHOWN = 100;

/** `Firefox 140 on Linux`, or what the client called itself; null if it said nothing. */
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
