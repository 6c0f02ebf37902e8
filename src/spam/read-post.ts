import type { SpamPost } from "./judge.ts";
import { findLinks, type Link } from "./links.ts";

/** What a field most likely holds, by its name and its value. */
type FieldRole = "email" | "name" | "phone" | "text";

interface TextField {
  /** The top-level field's name; members of objects and arrays carry their field's. */
  readonly name: string;
  readonly role: FieldRole;
  readonly text: string;
}

/** A post taken apart once, for all signals. */
export interface ReadPost {
  readonly post: SpamPost;
  /** Every string of the post that is not blank, in order. */
  readonly texts: readonly TextField[];
  /** What the sender wrote: all texts that are neither e-mail address, name nor phone number, one a line. */
  readonly body: string;
  readonly links: readonly Link[];
}

/** Past so many characters of one post nothing more is read: twice what a body of the default limit can hold of words. */
const MAX_READ_LENGTH = 20_000;
const MAX_TEXTS = 200;
const MAX_DEPTH = 8;

export function readPost(post: SpamPost): ReadPost {
  const texts: TextField[] = [];
  let room = MAX_READ_LENGTH;
  const visit = (name: string, value: unknown, depth: number): void => {
    if (room <= 0 || texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
    if (typeof value === "string") {
      const text = value.slice(0, room).trim();
      room -= value.length;
      if (text !== "") texts.push({ name, role: roleOf(name, text), text });
    } else if (Array.isArray(value)) {
      for (const item of value) visit(name, item, depth + 1);
    } else if (typeof value === "object" && value !== null) {
      for (const item of Object.values(value)) visit(name, item, depth + 1);
    }
  };
  for (const [name, value] of Object.entries(post.fields)) visit(name, value, 0);
  const written = texts.filter((field) => field.role === "text");
  const links = written.flatMap((field) => findLinks(field.text, field.name));
  return { post, texts, body: written.map((field) => field.text).join("\n"), links };
}

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
const PHONE = /^[+()\d\s./-]{5,30}$/;
const NAME_WORDS = new Set([
  "name",
  "nom",
  "nombre",
  "nome",
  "vorname",
  "nachname",
  "prenom",
  "apellido",
  "surname",
]);
const MAX_NAME_LENGTH = 200;

function roleOf(field: string, text: string): FieldRole {
  if (text.length <= 320 && EMAIL.test(text)) return "email";
  if (text.length <= 30 && PHONE.test(text)) return "phone";
  return text.length <= MAX_NAME_LENGTH && isNameField(field) ? "name" : "text";
}

/** `name`, `fullName`, `your-name`, `last_name`; not `company_name`, `filename` or `product name`. */
function isNameField(field: string): boolean {
  const words = field
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
  if (words.length === 0 || words.length > 3) return false;
  const last = words.at(-1) ?? "";
  const foreign = new Set([
    "company",
    "business",
    "product",
    "file",
    "domain",
    "site",
    "project",
    "event",
    "organization",
  ]);
  if (words.some((word) => foreign.has(word))) return false;
  return NAME_WORDS.has(last) || ["fullname", "firstname", "lastname", "yourname"].includes(last);
}
