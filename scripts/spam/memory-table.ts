import { traceOf } from "../../src/spam/post-trace.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import { contentOf, identityOf, type LeftOutSource, type MeasureRow } from "./cases.ts";
import { replay, type ReplayedScore } from "./replay.ts";
import { BLOCKED_FROM, HIGH_FROM, MEDIUM_FROM, percent } from "./shares.ts";

/**
 * A source of mail without headers. Each issue of a newsletter seems to come from another sender; and no letters are in training without
 * this source.
 */
const MAIL = "spamassassin-corpus";

/** A table, and the number of genuine texts, mail excluded, that score higher with memory. */
export interface MemoryTable {
  readonly table: string;
  readonly genuineRaised: number;
}

/** Shows the effect of the memory on texts of a source that its model has not seen, both spam and genuine. */
export function memoryOfSources(leftOut: readonly LeftOutSource[]): MemoryTable {
  let genuineRaised = 0;
  const lines = leftOut.flatMap(({ source, texts, model }) => {
    const posts = texts.map(({ sent }, index) => ({ workspace: source, post: postOf(sent, index) }));
    const scores = replay(posts, model);
    const labelled = texts.map(({ label }, index) => ({ label, score: scores[index] ?? NOTHING }));
    return [...Map.groupBy(labelled, ({ label }) => label)].map(([label, members]) => {
      if (label === "ham" && source !== MAIL)
        genuineRaised += members.filter(({ score }) => isRaised(score)).length;
      return memoryLine(
        `${source} | ${label}`,
        members.map(({ score }) => score),
      );
    });
  });
  return { table: [`| source | label ${HEAD}`, `|---|---${RULE}`, ...lines].join("\n"), genuineRaised };
}

/** A message to a site, or a genuine text between such messages. */
interface ReplayedRow {
  readonly row: MeasureRow;
  readonly post: SpamPost;
  readonly workspace: string;
}

/** A message to a site, with its facts. */
interface SiteRow {
  readonly row: MeasureRow;
  readonly workspace: string;
  readonly sender: string;
  /** Keys of the places that its links lead to. */
  readonly places: readonly number[];
  readonly score: ReplayedScore;
}

/**
 * Shows the effect of the memory on the sites of `measure`: each is a workspace, and all together are one workspace with six forms. Senders
 * whose addresses have the same domain and shape count as one.
 */
export function memoryOfSites(forms: readonly MeasureRow[], genuine: readonly MeasureRow[]): string {
  const together = (rows: readonly MeasureRow[]): ReplayedRow[] =>
    rows.map((row) => messageOf(row, "the agency"));
  const apart = replayRows(forms.map((row) => messageOf(row, siteOf(row))));
  const after = replayRows(together(forms));
  const inTurn = replayRows(together(takeTurns(forms)));
  const others = genuine.map((row, index): ReplayedRow => ({
    row,
    post: postOf(contentFields(row), index),
    workspace: "the agency",
  }));
  const mixed = replayRows(spread(together(takeTurns(forms)), others));
  const isGenuine = ({ row }: SiteRow): boolean => row.site === undefined;
  const raised = mixed.filter(isGenuine).filter(({ score }) => isRaised(score)).length;
  const readings = [
    ["each site a workspace", apart],
    ["one workspace, one site after the other", after],
    ["one workspace, the sites in turn", inTurn],
    [
      `the same among ${others.length} genuine texts, of which ${raised} score higher`,
      mixed.filter((one) => !isGenuine(one)),
    ],
  ] as const;
  const sites = [...Map.groupBy(apart, ({ workspace }) => workspace)];
  return [
    `| site ${HEAD}`,
    `|---${RULE}`,
    ...[...readings, ...sites].map(([name, rows]) =>
      memoryLine(
        name,
        rows.map(({ score }) => score),
      ),
    ),
    ...readings.slice(0, 3).map(([name, rows]) => `\n${name}: ${mostOfAnyMemory(rows)}`),
  ].join("\n");
}

function messageOf(row: MeasureRow, workspace: string): ReplayedRow {
  return { row, workspace, post: contentOf({ email: identityOf(row).email, ...contentFields(row) }) };
}

function replayRows(rows: readonly ReplayedRow[]): SiteRow[] {
  const scores = replay(rows, null);
  return rows.map(({ row, post, workspace }, index) => ({
    row,
    workspace,
    sender: identityOf(row).email,
    places: traceOf(post).targets.filter((key) => !NAMED_OF_ALL.includes(key)),
    score: scores[index] ?? NOTHING,
  }));
}

/** The keys of the address that stands for the site itself in the data. */
const NAMED_OF_ALL = traceOf(contentOf({ message: "example.com" })).targets;

function siteOf({ site = "" }: MeasureRow): string {
  return site;
}

/** Mixes all sites, so that each runs from beginning to end in its own order. */
function takeTurns(forms: readonly MeasureRow[]): MeasureRow[] {
  const sites = [...Map.groupBy(forms, siteOf).values()];
  return sites
    .flatMap((rows) => rows.map((row, index) => ({ row, at: (index + 0.5) / rows.length })))
    .sort((a, b) => a.at - b.at)
    .map(({ row }) => row);
}

/** Puts the others evenly between these rows. */
function spread(rows: readonly ReplayedRow[], others: readonly ReplayedRow[]): ReplayedRow[] {
  const until = (index: number): number => Math.floor((index * others.length) / rows.length);
  return rows.flatMap((row, index) => [row, ...others.slice(until(index), until(index + 1))]);
}

/**
 * Describes what a perfect memory would reach: it knows the campaign of each message, and takes each earlier message of it in the workspace
 * for spam.
 */
function mostOfAnyMemory(rows: readonly SiteRow[]): string {
  const passed = rows.filter(({ score }) => score.alone < BLOCKED_FROM);
  const known = passed.filter((row) => relatedBefore(rows, row).length > 0);
  const share = 1 - (passed.length - known.length) / rows.length;
  const [left, blocked] = [passed.filter(isLeft), passed.filter((row) => !isLeft(row))];
  const bySite = blocked.filter((row) => !known.includes(row));
  const why = [...Map.groupBy(left, (row) => whyLeft(row, relatedBefore(rows, row)))]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([reason, members]) => `${members.length} ${reason}`);
  return `a perfect memory would block ${known.length} of the ${passed.length} messages that the content does not: ${percent(share)} %. This one blocks ${blocked.length}, ${bySite.length} of them by the site's own address, and leaves ${left.length}: ${why.join(", ")}.`;
}

function isLeft({ score }: SiteRow): boolean {
  return score.remembered < BLOCKED_FROM;
}

function relatedBefore(rows: readonly SiteRow[], row: SiteRow): SiteRow[] {
  return rows.slice(0, rows.indexOf(row)).filter((one) => isRelated(one, row));
}

function isRelated(one: SiteRow, other: SiteRow): boolean {
  const leadToOnePlace = one.places.some((key) => other.places.includes(key));
  return one.workspace === other.workspace && (one.row.cluster === other.row.cluster || leadToOnePlace);
}

function whyLeft({ sender, score }: SiteRow, before: readonly SiteRow[]): string {
  if (before.length === 0) return "are the first of their campaign";
  if (before.every((one) => one.sender === sender)) return "come from the sender of the earlier ones";
  if (score.alone < MEDIUM_FROM) return "score too low";
  return score.alone < HIGH_FROM
    ? "are hardly suspicious and had too few senders"
    : "had too few senders or other words";
}

/** Counts the genuine rows that score higher with memory. Each source is a workspace, and each text has its own sender. */
export function memoryOfTheGenuine(rows: readonly MeasureRow[]): number {
  const scores = replay(
    rows.map((row, index) => ({ workspace: row.source, post: postOf(contentFields(row), index) })),
    null,
  );
  return scores.filter(isRaised).length;
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

function contentFields({ subject, text }: MeasureRow): Record<string, string> {
  return subject ? { subject, message: text } : { message: text };
}
