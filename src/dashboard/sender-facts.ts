import { plainText } from "../foundation/plain-text.ts";

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

/** Opens the mail program with a new message to the address. */
export function mailLink(address: string, subject: string): string {
  const [local = "", domain = ""] = address.split("@");
  const to = `${encodeURIComponent(local)}@${encodeURIComponent(domain)}`;
  return `mailto:${to}?subject=${encodeURIComponent(plainText(subject.toWellFormed()))}`;
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
