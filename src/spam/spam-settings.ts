import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { jsonFault } from "../foundation/json-fault.ts";
import { isNetwork } from "../foundation/ip-address.ts";
import { checkPattern, leastCost } from "../foundation/pattern.ts";
import { problemsOf } from "../foundation/problems.ts";
import { lineOfPath } from "./json-line.ts";

const MAX_KEYWORDS = 500;
const MAX_RULES = 100;
const MAX_SENDERS = 1000;
/** The largest size of all rules together, in steps of their patterns. It bounds the time that they take for one post. */
const MAX_RULES_COST = 1000;

const points = z.int().min(-100).max(100);
const WORD = "expected a word or phrase of 1 to 100 characters";
const word = z.string(WORD).trim().min(1, WORD).max(100, WORD);
const LINKS = "expected a whole number from 0 to 1000";
const MANY_SENDERS = `expected at most ${MAX_SENDERS} of them`;

const senders = z.strictObject({
  addresses: z
    .array(z.string().refine(isNetwork, "expected an IP address or CIDR, like 203.0.113.0/24"))
    .max(MAX_SENDERS, MANY_SENDERS)
    .default([]),
  emails: z
    .array(z.email("expected an e-mail address").toLowerCase())
    .max(MAX_SENDERS, MANY_SENDERS)
    .default([]),
  domains: z
    .array(z.hostname("expected a domain, like example.org").toLowerCase())
    .max(MAX_SENDERS, MANY_SENDERS)
    .default([]),
});

const rule = z.strictObject(
  {
    field: z.string().min(1).max(256).nullable().default(null),
    pattern: z.string("expected a pattern in RE2 syntax"),
    effect: z.union([points, z.enum(["block", "allow"])], 'expected points, "block" or "allow"'),
  },
  // Unknown members get a message of their own.
  {
    error: ({ code }) =>
      code === "invalid_type" ? "expected a rule with a pattern and an effect" : undefined,
  },
);

/** The shape of an owner's choices in JSON, with all rules that they must keep. */
export const spamChoicesShape = z.strictObject({
  maxLinks: z.int(LINKS).min(0, LINKS).max(1000, LINKS).optional(),
  technical: z.boolean().optional(),
  keywords: z
    .array(
      z.strictObject({ word, effect: z.union([points, z.literal("block")], 'expected points or "block"') }),
    )
    .max(MAX_KEYWORDS, `expected at most ${MAX_KEYWORDS} of them`)
    .optional(),
  allow: senders.optional(),
  deny: senders.optional(),
  rules: z
    .array(rule, "expected a list of rules")
    .max(MAX_RULES, `expected at most ${MAX_RULES} of them`)
    .superRefine(checkRules)
    .optional(),
});

/** The settings that an owner may choose for a workspace or endpoint, as in the settings file. An absent setting is not chosen. */
export type SpamChoices = z.infer<typeof spamChoicesShape>;

/** Senders that the owner lists: IP addresses or networks, e-mail addresses, and domains with their subdomains. */
export type SpamSenders = z.infer<typeof senders>;

/** The settings that apply to one endpoint, with all choices included. */
export interface SpamSettings {
  /** A post with more links than this gets points for it; at least 0. */
  readonly maxLinks: number;
  /** True for forms that receive bug reports: links count half, and ten of them are normal. */
  readonly technical: boolean;
  /** A keyword matches whole words, in any case. Its points may be negative. */
  readonly keywords: NonNullable<SpamChoices["keywords"]>;
  readonly allow: SpamSenders;
  readonly deny: SpamSenders;
  /** `field` null means every field. Patterns have RE2 syntax, ignore case, and match anywhere unless they are anchored. */
  readonly rules: NonNullable<SpamChoices["rules"]>;
}

const NOBODY: SpamSenders = { addresses: [], emails: [], domains: [] };

export function defaultSpamSettings(maxLinks: number): SpamSettings {
  return { maxLinks, technical: false, keywords: [], allow: NOBODY, deny: NOBODY, rules: [] };
}

/** Applies choices to settings: single values are replaced, lists are joined. */
export function applyChoices(settings: SpamSettings, chosen: SpamChoices): SpamSettings {
  return {
    maxLinks: chosen.maxLinks ?? settings.maxLinks,
    technical: chosen.technical ?? settings.technical,
    keywords: [...settings.keywords, ...(chosen.keywords ?? [])],
    allow: joinSenders(settings.allow, chosen.allow),
    deny: joinSenders(settings.deny, chosen.deny),
    rules: [...settings.rules, ...(chosen.rules ?? [])],
  };
}

/** Replaces those choices that `named` has. A keyword replaces an earlier keyword with the same word. */
export function replaceChoices(before: SpamChoices, named: SpamChoices): SpamChoices {
  const { keywords = [], ...others } = named;
  const words = new Set(keywords.map(({ word }) => word));
  const kept = (before.keywords ?? []).filter(({ word }) => !words.has(word));
  return { ...before, ...others, ...(keywords.length === 0 ? {} : { keywords: [...kept, ...keywords] }) };
}

function joinSenders(one: SpamSenders, other: SpamSenders = NOBODY): SpamSenders {
  return {
    addresses: [...one.addresses, ...other.addresses],
    emails: [...one.emails, ...other.emails],
    domains: [...one.domains, ...other.domains],
  };
}

/**
 * Reads a settings file.
 *
 * @throws usage with one line for each mistake: the name of the file, the line and the path of the value.
 */
export function parseSpamChoices(json: string, fileName: string): SpamChoices {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const { line, column, reason } = jsonFault(json, error);
    throw new FormsvcError("usage", `${fileName}:${line}: not valid JSON (column ${column}: ${reason})`);
  }
  const parsed = spamChoicesShape.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error).map(({ path, message }) => ({
    line: lineOfPath(json, path),
    path: path.join("."),
    message,
  }));
  const mistakes = problems.map(
    ({ line, path, message }) => `${fileName}:${line}: ${path || "the file"}: ${message}`,
  );
  throw new FormsvcError("usage", mistakes.join("\n"), { details: { problems } });
}

/** Checks the patterns of all rules together. Patterns beyond the limit are not compiled, because compiling is the costly part. */
function checkRules(rules: readonly { readonly pattern: string }[], context: z.core.$RefinementCtx): void {
  let cost = 0;
  for (const [index, { pattern: source }] of rules.entries()) {
    const least = leastCost(source);
    const pattern = cost + least > MAX_RULES_COST ? null : checkPattern(source);
    if (typeof pattern === "string") {
      context.addIssue({ code: "custom", message: pattern, path: [index, "pattern"] });
      continue;
    }
    cost += pattern?.cost ?? least;
    if (cost <= MAX_RULES_COST) continue;
    context.addIssue(`the patterns are too large together (${MAX_RULES_COST} steps); simplify or drop some`);
    return;
  }
}
