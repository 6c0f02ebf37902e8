import { traceOf } from "../../src/spam/post-trace.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import { contentOf, identityOf, type LeftOutSource, type MeasureRow } from "./cases.ts";
import { replay, type ReplayedScore } from "./replay.ts";
import { BLOCKED_FROM, percent } from "./shares.ts";

/** What the memory does for texts of a source that its model has not seen, and to the genuine ones. */
export function memoryOfSources(leftOut: readonly LeftOutSource[]): string {
  const lines = leftOut.flatMap(({ source, texts, model }) => {
    const posts = texts.map(({ sent }, index) => ({ workspace: source, post: postOf(sent, index) }));
    const scores = replay(posts, model);
    const labelled = texts.map(({ label }, index) => ({ label, score: scores[index] ?? NOTHING }));
    return [...Map.groupBy(labelled, ({ label }) => label)].map(([label, members]) =>
      memoryLine(
        `${source} | ${label}`,
        members.map(({ score }) => score),
      ),
    );
  });
  return [`| source | label ${HEAD}`, `|---|---${RULE}`, ...lines].join("\n");
}

/** Each site is a workspace. Senders with addresses of the same domain and shape count as one. */
export function memoryOfSites(forms: readonly MeasureRow[]): string {
  const posts = forms.map((row) => contentOf({ email: identityOf(row).email, ...messageOf(row) }));
  const scores = replay(
    forms.map(({ site = "" }, index) => ({ workspace: site, post: posts[index] ?? contentOf({}) })),
    null,
  );
  const rows = forms.map(({ site = "", cluster }, index): SiteRow => ({
    site,
    campaign: cluster ?? -index,
    links: traceOf(posts[index] ?? contentOf({})).links,
    score: scores[index] ?? NOTHING,
  }));
  const lines = [["all", rows] as const, ...Map.groupBy(rows, ({ site }) => site)].map(([site, members]) =>
    memoryLine(
      site,
      members.map(({ score }) => score),
    ),
  );
  return [`| site ${HEAD}`, `|---${RULE}`, ...lines, "", mostOfAnyMemory(rows)].join("\n");
}

interface SiteRow {
  readonly site: string;
  readonly campaign: number;
  /** Keys of the places that its links lead to. */
  readonly links: readonly number[];
  readonly score: ReplayedScore;
}

/** What a perfect memory would reach: it knows the campaign of each message and takes each earlier one of the site for spam. */
function mostOfAnyMemory(rows: readonly SiteRow[]): string {
  const passed = rows.filter(({ score }) => score.alone < BLOCKED_FROM);
  const known = passed.filter((row) => rows.slice(0, rows.indexOf(row)).some((one) => isRelated(one, row)));
  const share = 1 - (passed.length - known.length) / rows.length;
  return `A perfect memory would block ${known.length} of the ${passed.length} messages that the content does not: ${percent(share)} %.`;
}

function isRelated(one: SiteRow, other: SiteRow): boolean {
  const leadToOnePlace = one.links.some((key) => other.links.includes(key));
  return one.site === other.site && (one.campaign === other.campaign || leadToOnePlace);
}

/** Each source is a workspace, and each text has a sender of its own. */
export function memoryOfTheGenuine(rows: readonly MeasureRow[]): string {
  const scores = replay(
    rows.map((row, index) => ({ workspace: row.source, post: postOf(messageOf(row), index) })),
    null,
  );
  return `\nOf ${rows.length} genuine rows ${scores.filter(isRaised).length} score higher with memory.`;
}

const NOTHING: ReplayedScore = { alone: 0, remembered: 0 };
const HEAD = "| texts | score higher with memory | >= 76, content only | >= 76, with memory |";
const RULE = "|---|---|---|---|";

function memoryLine(name: string, scores: readonly ReplayedScore[]): string {
  const blocked = (score: (one: ReplayedScore) => number): string =>
    `${percent(scores.filter((one) => score(one) >= BLOCKED_FROM).length / scores.length)} %`;
  const cells = [
    name,
    scores.length,
    scores.filter(isRaised).length,
    blocked(({ alone }) => alone),
    blocked(({ remembered }) => remembered),
  ];
  return `| ${cells.join(" | ")} |`;
}

function isRaised({ alone, remembered }: ReplayedScore): boolean {
  return remembered > alone;
}

function postOf(message: string | Readonly<Record<string, string>>, index: number): SpamPost {
  const content = typeof message === "string" ? { message } : message;
  return contentOf({ email: `person${index}@example.org`, ...content });
}

function messageOf({ subject, text }: MeasureRow): Record<string, string> {
  return subject ? { subject, message: text } : { message: text };
}
