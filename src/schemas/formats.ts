import type { StringFormat } from "./field-definition.ts";

export const FORMAT_TESTS: Readonly<Record<StringFormat, (text: string) => boolean>> = {
  email: isEmail,
  url: isWebUrl,
  date: isDate,
  phone: isPhone,
};

const LETTER = 1;
const DIGIT = 2;
const HYPHEN = 4;
const DOT = 8;
const UNDERSCORE_OR_PLUS = 16;
const APOSTROPHE = 32;

const LOCAL_LAST = LETTER | DIGIT | UNDERSCORE_OR_PLUS | HYPHEN;
const LOCAL = LOCAL_LAST | DOT | APOSTROPHE;
const LABEL_FIRST = LETTER | DIGIT;
const LABEL = LABEL_FIRST | HYPHEN;
const MIN_TOP_LABEL_LENGTH = 2;

/**
 * Checks an e-mail address by the rule of Zod 3, in one pass. Before the at sign: letters, digits and `_'+-.`, without a dot at the start
 * or end or two dots in a row, and without an apostrophe at the end. After it: labels of letters, digits and inner hyphens; the last label
 * has letters only.
 */
function isEmail(text: string): boolean {
  const at = text.indexOf("@");
  if (at < 1 || classAt(text, 0) === DOT || !isOf(text, at - 1, at, LOCAL_LAST)) return false;
  if (!isOf(text, 0, at, LOCAL) || text.lastIndexOf("..", at) !== -1) return false;
  return isDomain(text, at + 1);
}

function isDomain(text: string, start: number): boolean {
  const lastDot = text.lastIndexOf(".");
  if (lastDot < start || text.length - lastDot - 1 < MIN_TOP_LABEL_LENGTH) return false;
  if (!isOf(text, lastDot + 1, text.length, LETTER)) return false;
  let from = start;
  while (from <= lastDot) {
    const dot = text.indexOf(".", from);
    if (dot === from || !isOf(text, from, from + 1, LABEL_FIRST) || !isOf(text, from, dot, LABEL))
      return false;
    from = dot + 1;
  }
  return true;
}

/** Whether all characters from `start` up to and without `end` are of the given classes. */
function isOf(text: string, start: number, end: number, classes: number): boolean {
  for (let index = start; index < end; index += 1) {
    if ((classAt(text, index) & classes) === 0) return false;
  }
  return true;
}

function classAt(text: string, index: number): number {
  return CLASSES[text.charCodeAt(index)] ?? 0;
}

/** The class of each ASCII character. */
const CLASSES: Readonly<Uint8Array> = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  if (character === "-") return HYPHEN;
  if (character === ".") return DOT;
  if (character === "'") return APOSTROPHE;
  return character === "_" || character === "+" ? UNDERSCORE_OR_PLUS : 0;
});

/** Whether the WHATWG URL parser accepts the text as an address, as in Zod 3, and its scheme is http or https. */
function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:");
}

/** Whether the text is a day of the calendar as an input of type `date` sends it: `2026-11-30`. */
function isDate(text: string): boolean {
  if (!DAY.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // JavaScript reads `2026-02-30` as a day of March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Whether the text is a telephone number as people write it: 5 to 15 digits, the most that E.164 allows, with spaces and the usual signs
 * between them.
 */
function isPhone(text: string): boolean {
  if (text.length > MAX_PHONE_LENGTH || !PHONE.test(text)) return false;
  const digits = text.replaceAll(/\D/g, "").length;
  return digits >= MIN_PHONE_DIGITS && digits <= MAX_PHONE_DIGITS;
}

const PHONE = /^\+?[\d ()./-]+$/;
const MAX_PHONE_LENGTH = 40;
const MIN_PHONE_DIGITS = 5;
const MAX_PHONE_DIGITS = 15;
