import { BoundedMap } from "../foundation/bounded-map.ts";
import { findLinks, type Link } from "./links.ts";
import { normaliseText, withLinkWords } from "./normalise-text.ts";
import type { SpamPost } from "./spam-post.ts";
import { readWords, wordsBefore } from "./read-words.ts";
import { spamOdds } from "./text-model.ts";
import { sketchOf, type TextSketch } from "./text-sketch.ts";

/** The most likely content of a field, by its name and its value. */
type FieldRole = "email" | "name" | "phone" | "text";

export interface TextField {
  /** The name of the top-level field. Members of objects and arrays have the name of their field. */
  readonly name: string;
  readonly role: FieldRole;
  readonly text: string;
}

/** A post, read once for all signals. */
export interface ReadPost {
  readonly post: SpamPost;
  /** All texts of the post that are not blank, in their order. */
  readonly texts: readonly TextField[];
  /** The sender's own words: all texts that are neither an e-mail address, a name nor a phone number, one in each line. */
  readonly body: string;
  /** The links in the body. */
  readonly links: readonly Link[];
  /** The body in the form that {@link normaliseText} gives, without the addresses of its links, and the number of its words. */
  readonly normalised: string;
  readonly wordCount: number;
  /** The text that the text model reads: `normalised`, followed by the words in the addresses of the links. */
  readonly modelText: string;
  /** The log-odds of the text model that the post is spam. */
  readonly odds: number;
  /** The sketch by which copies of the text are found; null for a text that is too short. */
  readonly sketch: TextSketch | null;
}

/** The largest number of characters of one post that are read. */
const MAX_READ_LENGTH = 20_000;
const MAX_TEXTS = 200;
const MAX_DEPTH = 8;
/** The text model reads at most this number of characters, so the rest is not normalised. */
const MAX_NORMALISED_LENGTH = 6000;

/**
 * The last post that was read. The spam memory is asked about a post just before the post is scored, and both need the post read. A weak
 * map for all posts would cost the garbage collector more than reading a post twice.
 */
let latest: ReadPost | null = null;

export function readPost(post: SpamPost): ReadPost {
  if (latest?.post !== post) latest = takeApart(post);
  return latest;
}

function takeApart(post: SpamPost): ReadPost {
  const texts = collectTexts(post.fields);
  let body = "";
  for (const { role, text } of texts) {
    if (role === "text") body = body === "" ? text : `${body}\n${text}`;
  }
  const links = findLinks(body);
  const head = body.slice(0, MAX_NORMALISED_LENGTH);
  const normalised = normaliseText(
    head,
    links.filter((link) => link.start + link.length <= head.length),
  );
  const modelText = withLinkWords(normalised, links);
  const words = readWords(modelText);
  const written = wordsBefore(words, normalised.length);
  return {
    post,
    texts,
    body,
    links,
    normalised,
    wordCount: written.count,
    modelText,
    odds: spamOdds(words),
    sketch: sketchOf(written),
  };
}

function collectTexts(fields: Readonly<Record<string, unknown>>): TextField[] {
  const collected = { texts: [] as TextField[], room: MAX_READ_LENGTH };
  for (const name of Object.keys(fields)) collect(collected, name, fields[name], 0);
  return collected.texts;
}

function collect(
  into: { texts: TextField[]; room: number },
  name: string,
  value: unknown,
  depth: number,
): void {
  if (into.room <= 0 || into.texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
  if (typeof value === "string") {
    const text = value.slice(0, into.room).trim();
    into.room -= value.length;
    if (text !== "") into.texts.push({ name, role: roleOf(name, text), text });
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_TEXTS)) collect(into, name, item, depth + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) collect(into, name, item, depth + 1);
  }
}

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
const PHONE = /^[+()\d\s./-]{5,30}$/;
const MAX_EMAIL_LENGTH = 320;
const MAX_PHONE_LENGTH = 30;
const MAX_NAME_LENGTH = 200;

function roleOf(field: string, text: string): FieldRole {
  if (text.length <= MAX_EMAIL_LENGTH && text.includes("@") && EMAIL.test(text)) return "email";
  if (text.length <= MAX_PHONE_LENGTH && PHONE.test(text)) return "phone";
  return text.length <= MAX_NAME_LENGTH && isNameField(field) ? "name" : "text";
}

const NAME_WORDS = new Set(
  "name fullname firstname lastname yourname surname nom prenom nombre apellido nome cognome vorname nachname naam ad soyad isim".split(
    " ",
  ),
);
const OTHER_NAMES = new Set(
  "company business product file domain site project event organization organisation school pet brand".split(
    " ",
  ),
);
const MAX_FIELD_NAME_LENGTH = 40;

/**
 * The largest number of field names whose class is remembered. Forms have few names, but robots invent some, so the oldest are forgotten.
 */
const MAX_NAME_FIELDS = 1000;
const nameFields = new BoundedMap<string, boolean>(MAX_NAME_FIELDS);

function isNameField(field: string): boolean {
  if (field.length > MAX_FIELD_NAME_LENGTH) return false;
  let isName = nameFields.get(field);
  if (isName === undefined) {
    isName = isCalledName(field);
    nameFields.set(field, isName);
  }
  return isName;
}

/**
 * Whether a field is named like a person's name: `name`, `fullName`, `your-name`, `last_name`; not `company_name`, `filename` or `product
 * name`.
 */
function isCalledName(field: string): boolean {
  const words = field
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
  if (words.some((word) => OTHER_NAMES.has(word))) return false;
  return NAME_WORDS.has(words.at(-1) ?? "") || NAME_WORDS.has(words[0] ?? "");
}
