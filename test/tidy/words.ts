import type { SourceFile } from "./source-rules.ts";

/** Words and turns of phrase that we no longer use. The glossary, docs/glossary.md, has the words that we use. */
interface GivenUp {
  readonly pattern: RegExp;
  /** The words to write instead. */
  readonly instead: string;
  /** The files that must not contain the pattern. */
  readonly in: RegExp;
}

const TEXTS = /\.(?:ts|md)$/;
const SOURCES = /^src\/.*\.ts$/;
const CODE = /^(?:src|scripts|test)\/.*\.ts$/;

/** Matches a declaration of the program's own with such a name. */
function named(name: string): RegExp {
  return new RegExp(`\\b(?:class|interface|type|function\\*?|const|let) (?:${name})\\b`);
}

const GIVEN_UP: readonly GivenUp[] = [
  // CONTRIBUTING quotes this one.
  { pattern: /(?<!")\bso many\b/i, instead: "the number by its name", in: TEXTS },
  { pattern: /\bwhere there (?:is|are)\b/i, instead: "if there is", in: TEXTS },
  { pattern: /(?:\/\*\*|^ *\*) Most [a-z]/, instead: '"The largest number of …"', in: CODE },
  { pattern: /\/\*\* (?:Those|That) (?:of|that|whose|which)\b/, instead: "the noun that is meant", in: CODE },
  { pattern: /\/\*\* (?:When|What|Which|Who)\. \*\//, instead: "a sentence with a subject", in: CODE },
  {
    pattern: /\b(?:signed_in|sign_in_failed|session_ended)\b/,
    instead: "`session.started`, `sign-in.failed`, `session.ended`",
    in: /^(?:src|docs)\//,
  },
  {
    pattern: /\bwebhook\.(?:recovered|database)\b/,
    instead: "`delivery.recovered`, `delivery.waiting`",
    in: /^(?:src|docs)\//,
  },
  {
    pattern: named("\\w*(?<!In|Into)Places?"),
    instead: "a slot, destination, position, target or context: the glossary has each",
    in: SOURCES,
  },
  {
    pattern: named("\\w*Turns?|turns"),
    instead: "slots, an order or a round; the event loop has turns",
    in: SOURCES,
  },
  {
    pattern: named("\\w*(?:Channel|Carrier)"),
    instead: "the kind of a recipient, or its transport",
    in: SOURCES,
  },
  {
    pattern: named("tell(?:[A-Z]\\w*)?|\\w*(?:Teller|Told)|told|\\w*(?:TOLD|TELL)(?:_\\w+)?"),
    instead: "notify, report, announce, log or show",
    in: SOURCES,
  },
  { pattern: /#tell\w*\b/, instead: "notify, report, announce, log or show", in: SOURCES },
  { pattern: named("places?"), instead: "a slot, destination, position, target or context", in: SOURCES },
  {
    pattern: named("[jJ]udge\\w*"),
    instead: "score (the filter), mark (people), classify or check",
    in: SOURCES,
  },
  {
    pattern: /(?<!= )\b(\w+) \| Promise<\1>/,
    instead: "MaybeLater<…>, whose helpers wait only if they must",
    in: SOURCES,
  },
  { pattern: /\b(?:carrier|channel)s?\b/i, instead: "kind", in: /^src\/(?:outbox|recipients|mail)\// },
  {
    pattern: /\b(?:laid|(?<!\.)turns|the judge)\b/i,
    instead: "compiled, phrases, the filter",
    in: /^src\/spam\/(?!phrases\/[a-z-]+\.ts$|points|subject-words)/,
  },
];

/** Finds the lines with a word that we no longer use. */
export function findGivenUp({ path, text }: SourceFile): readonly string[] {
  if (path.endsWith(".generated.ts") || path.startsWith("test/tidy/words.")) return [];
  const rules = GIVEN_UP.filter((rule) => rule.in.test(path));
  return text
    .split("\n")
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ instead }) => `${path}:${index + 1}: ${line.trim()} (write ${instead})`),
    );
}

/** Finds names that two files give to different exported types, with these files. */
export function findSharedNames(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name = ""] of text.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
      homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  return new Map([...homes].filter(([, paths]) => paths.length > 1));
}
