import type { Case } from "./cases.ts";
import { BLOCKED_FROM, HIGH_FROM, percent, shareFrom } from "./shares.ts";
import { isShortLink } from "./slices.ts";

/** A figure that must stay on one side of a bound. */
export interface Check {
  readonly what: string;
  readonly value: number;
  readonly bound: { readonly atLeast: number } | { readonly atMost: number };
  /** The unit of the value; if absent, the value is a share from 0 to 1. */
  readonly unit?: "texts" | "points";
}

/** The share of spam that version 3 of the filter found. No later version may find less. */
const VERSION_3 = {
  youtube: 0.0686,
  /** The share of spam with a link and under 20 words that scored 51 or more, by source. */
  shortLinks: {
    "sms-spam-collection": 4 / 10,
    "tg-spam-samples": 1 / 3,
    "contact-form-spam": 240 / 247,
    "youtube-spam-collection": 23 / 167,
  } as Readonly<Record<string, number>>,
} as const;

/** The texts for the checks. Each is scored by a filter that was not trained with it. */
export interface CheckedTexts {
  /** The texts of each public source, scored by a model without this source. */
  readonly sources: readonly Case[];
  readonly unseen: readonly Case[];
  readonly measure: readonly Case[];
}

export function checksOf({ sources, unseen, measure }: CheckedTexts): Check[] {
  const youtube = measure.filter(({ group }) => group.startsWith("youtube"));
  const spam = unseen.filter(({ group }) => group === "spam");
  const links = unseen.filter(({ group }) => group === "genuine short posts with a link");
  const foreign = measure.filter(({ group }) => group.startsWith("ham-multilingual"));
  const share = (what: string, value: number, bound: Check["bound"]): Check => ({ what, value, bound });
  return [
    share("YouTube spam found at 1 % of the genuine comments", foundAt(youtube, 0.01), {
      atLeast: VERSION_3.youtube,
    }),
    ...shortLinkChecks([...sources, ...measure]),
    share("other writers' spam >= 51", shareFrom(spam, HIGH_FROM), { atLeast: 0.75 }),
    share("other writers' genuine short posts with a link >= 51", shareFrom(links, HIGH_FROM), {
      atMost: 0.02,
    }),
    share("the same >= 76", shareFrom(links, BLOCKED_FROM), { atMost: 0.003 }),
    share("sentences in other languages >= 76", shareFrom(foreign, BLOCKED_FROM), { atMost: 0.0001 }),
  ];
}

/**
 * The share of spam that is found if the score that counts as spam is the lowest one that at most this share of the genuine texts reaches.
 */
function foundAt(cases: readonly Case[], genuineShare: number): number {
  const genuine = cases.filter(({ label }) => label === "ham");
  let score = 0;
  while (shareFrom(genuine, score) > genuineShare) score += 1;
  return shareFrom(
    cases.filter(({ label }) => label === "spam"),
    score,
  );
}

function shortLinkChecks(cases: readonly Case[]): Check[] {
  const spam = cases.filter((each) => each.label === "spam" && isShortLink(each));
  return [...Map.groupBy(spam, ({ source }) => source)].map(([source, texts]) => ({
    what: `spam of ${source} with a link and under 20 words >= 51, of ${texts.length}`,
    value: shareFrom(texts, HIGH_FROM),
    bound: { atLeast: VERSION_3.shortLinks[source] ?? 0 },
  }));
}

export function holds({ value, bound }: Check): boolean {
  return "atLeast" in bound ? value >= bound.atLeast : value <= bound.atMost;
}

export function checkTable(checks: readonly Check[]): string {
  const lines = checks.map((check) => {
    const { what, value, bound, unit } = check;
    const shown = (number: number): string =>
      unit === undefined ? `${percent(number)} %` : `${number} ${unit}`;
    const limit = "atLeast" in bound ? `at least ${shown(bound.atLeast)}` : `at most ${shown(bound.atMost)}`;
    return `| ${what} | ${shown(value)} | ${limit} | ${holds(check) ? "holds" : "**fails**"} |`;
  });
  return ["| check | measured | bound | |", "|---|---|---|---|", ...lines].join("\n");
}
