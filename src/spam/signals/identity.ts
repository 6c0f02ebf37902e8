import { DISPOSABLE_DOMAINS } from "../known-hosts.ts";
import type { SpamReason } from "../spam-verdict.ts";
import { findLinks } from "../links.ts";
import { findRandomWords } from "../random-word.ts";
import { POINTS } from "../points.ts";
import type { ReadPost, TextField } from "../read-post.ts";
import { isRobotName } from "../robot-name.ts";

const SAME_FIELDS = 3;

/** Signals of who the sender claims to be. */
export function identityReasons(read: ReadPost): SpamReason[] {
  const reasons: SpamReason[] = [];
  for (const field of read.texts) if (field.role === "name") reasons.push(...nameReasons(field));
  for (const { role, name, text } of read.texts) {
    if (role !== "email") continue;
    const domain = text.slice(text.lastIndexOf("@") + 1).toLowerCase();
    if (!DISPOSABLE_DOMAINS.has(domain)) continue;
    reasons.push({
      signal: "disposable-email",
      points: POINTS["disposable-email"],
      field: name,
      detail: `a mailbox for minutes: ${domain}`,
    });
  }
  if (read.texts.length >= SAME_FIELDS && isAllTheSame(read.texts)) {
    reasons.push({
      signal: "same-values",
      points: POINTS["same-values"],
      field: null,
      detail: "every field says the same",
    });
  }
  return reasons;
}

function isAllTheSame(texts: readonly TextField[]): boolean {
  const first = texts[0]?.text.toLowerCase();
  return texts.every(({ text }) => text.toLowerCase() === first);
}

const LINES = /[\r\n]/;
const URL_LIKE = /:\/\/|\bwww\./i;

function nameReasons({ name, text }: TextField): SpamReason[] {
  const reason = (signal: string, points: number, detail: string): SpamReason[] => [
    { signal, points, field: name, detail },
  ];
  if (URL_LIKE.test(text) || findLinks(text).length > 0)
    return reason("name-link", POINTS["name-link"], "a link as a name");
  if (LINES.test(text)) return reason("name-lines", POINTS["name-lines"], "several lines in a name");
  if (text.includes("@")) return reason("name-email", POINTS["name-email"], "an e-mail address as a name");
  if (findRandomWords(text).first !== null)
    return reason("name-random", POINTS["name-random"], "random letters as a name");
  if (isRobotName(text) || (INNER_CAPITAL.test(text) && text.split(/\s+/).some(hasRobotTail)))
    return reason("name-tail", POINTS["name-tail"], "a name with a tail, as robots make them");
  return [];
}

const INNER_CAPITAL = /\p{Ll}\p{Lu}/u;
const TAIL = /^\p{Lu}\p{Ll}{2,}(?:\p{Lu}\p{Ll}{1,}|\p{Lu})$/u;
const PARTICLES =
  /^(?:Mc|Mac|De|Di|Du|Da|Del|Della|Des|La|Le|Van|Von|Fitz|St|San|Al|El|Ben|Abu|Bin|Mac|Ó|O)\p{Lu}/u;

/** Whether a word is a first name with letters after it that belong to no name, such as "DavidJox" and "RolandE"; "McDonald" is not one. */
function hasRobotTail(word: string): boolean {
  return TAIL.test(word) && !PARTICLES.test(word);
}
