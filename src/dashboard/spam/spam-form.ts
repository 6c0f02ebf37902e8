import { FormsvcError } from "../../foundation/errors.ts";
import { isNetwork } from "../../foundation/ip-address.ts";
import { parseKeyword } from "../../spam/keyword.ts";
import { parseSpamChoices, type SpamChoices, type SpamSenders } from "../../spam/spam-settings.ts";
import { sentence } from "../kit/sentence.ts";
import { readLines, readNumber, readText, showText } from "../kit/typed-text.ts";

/** The content of the form of spam settings, as it was typed. The names of its inputs are those of the settings. */
export type TypedSpam = Readonly<Record<keyof SpamChoices, string>>;

export const SPAM_LABELS: Readonly<Record<keyof SpamChoices, string>> = {
  maxLinks: "Links that cost nothing",
  technical: "Kind of form",
  keywords: "Words that speak for spam",
  allow: "Senders who are never spam",
  deny: "Senders who are always spam",
  rules: "Rules with patterns",
};

const NAMES = Object.keys(SPAM_LABELS) as (keyof SpamChoices)[];

export function spamForm(chosen: SpamChoices): TypedSpam {
  const keywords = (chosen.keywords ?? []).map(({ word, effect }) => `${showText(word)} = ${effect}`);
  return {
    maxLinks: chosen.maxLinks === undefined ? "" : String(chosen.maxLinks),
    technical: chosen.technical === undefined ? "" : chosen.technical ? "on" : "off",
    keywords: keywords.join("\n"),
    allow: showSenders(chosen.allow),
    deny: showSenders(chosen.deny),
    rules:
      chosen.rules === undefined || chosen.rules.length === 0 ? "" : JSON.stringify(chosen.rules, null, 2),
  };
}

function showSenders(
  { emails, domains, addresses }: SpamSenders = { emails: [], domains: [], addresses: [] },
): string {
  return [...emails, ...domains, ...addresses].join("\n");
}

export function readSpamForm(form: URLSearchParams): TypedSpam {
  return Object.fromEntries(NAMES.map((name) => [name, form.get(name) ?? ""])) as TypedSpam;
}

/** The choices, checked like a settings file of the command, or their problems by the names of the inputs. */
export function checkSpamForm(
  typed: TypedSpam,
): { readonly choices: SpamChoices } | { readonly choices: null; readonly problems: Map<string, string> } {
  const problems = new Map<string, string>();
  const said = { keywords: readKeywords(typed.keywords, problems), rules: readRules(typed.rules, problems) };
  const named = {
    ...(typed.maxLinks.trim() !== "" && { maxLinks: readNumber(typed.maxLinks) }),
    ...(typed.technical !== "" && { technical: typed.technical === "on" }),
    ...(said.keywords.length > 0 && { keywords: said.keywords }),
    ...(typed.allow.trim() !== "" && { allow: readSenders(typed.allow) }),
    ...(typed.deny.trim() !== "" && { deny: readSenders(typed.deny) }),
    ...(said.rules !== null && { rules: said.rules }),
  };
  const choices = check(named, problems);
  return choices === null || problems.size > 0 ? { choices: null, problems } : { choices };
}

function readKeywords(typed: string, problems: Map<string, string>): unknown[] {
  return readLines(typed).flatMap((line) => {
    const keyword = parseKeyword(line);
    if (keyword !== null) return [{ ...keyword, word: readText(keyword.word) }];
    add(problems, "keywords", `“${line}”: write points from -100 to 100, or block, behind the last =`);
    return [];
  });
}

function readRules(typed: string, problems: Map<string, string>): unknown {
  if (typed.trim() === "") return null;
  try {
    return JSON.parse(typed) as unknown;
  } catch (error) {
    add(problems, "rules", `must be JSON: ${(error as Error).message}`);
    return null;
  }
}

/** Sorts typed senders: a text with an @ is an e-mail address; else a network; else a domain. */
function readSenders(typed: string) {
  const lines = readLines(typed);
  const emails = lines.filter((line) => line.includes("@"));
  const addresses = lines.filter((line) => isNetwork(line));
  const known = new Set([...emails, ...addresses]);
  return { emails, addresses, domains: lines.filter((line) => !known.has(line)) };
}

interface FoundProblem {
  readonly path: string;
  readonly message: string;
}

function check(named: Record<string, unknown>, problems: Map<string, string>): SpamChoices | null {
  try {
    return parseSpamChoices(JSON.stringify(named), "settings");
  } catch (error) {
    if (!(error instanceof FormsvcError) || error.code !== "usage") throw error;
    const found = (error.facts.details?.["problems"] ?? []) as readonly FoundProblem[];
    for (const { path, message } of found) addProblem(named, path, message, problems);
    return null;
  }
}

/** Adds a problem by its path, which is the setting's name and then a path in it, like `deny.emails.3`. */
function addProblem(
  named: Record<string, unknown>,
  path: string,
  message: string,
  problems: Map<string, string>,
): void {
  const [name = "", ...members] = path.split(".");
  const input = NAMES.find((known) => known === name);
  if (input === undefined) return add(problems, "", `${path}: ${message}`);
  const value = members.reduce(
    (whole: unknown, part) => (Object(whole) as Record<string, unknown>)[part],
    named[input],
  );
  return add(
    problems,
    input,
    typeof value === "string" && members.length > 0 ? `“${value}”: ${message}` : message,
  );
}

function add(problems: Map<string, string>, name: "" | keyof SpamChoices, text: string): void {
  const [line, before] = [sentence(text), problems.get(name)];
  problems.set(name, before === undefined ? line : `${before}\n${line}`);
}

/** Identifies the choices that a form showed, for a hidden input. When it is saved later, the page can say what changed meanwhile. */
export function spamFingerprint(chosen: SpamChoices): string {
  return JSON.stringify(spamForm(chosen));
}

/** The settings that differ from those that a form showed, with their present values; null if none does. */
export function spamChangedSince(fingerprint: string, chosen: SpamChoices): readonly string[] | null {
  if (fingerprint === spamFingerprint(chosen)) return null;
  let shown: Partial<TypedSpam> = {};
  try {
    shown = Object(JSON.parse(fingerprint)) as Partial<TypedSpam>;
  } catch {
    // An unreadable fingerprint counts as if all settings had changed.
  }
  const now = spamForm(chosen);
  return NAMES.filter((name) => shown[name] !== now[name]).map(
    (name) => `${SPAM_LABELS[name]}: ${now[name].replaceAll("\n", ", ") || "nothing chosen"}`,
  );
}
