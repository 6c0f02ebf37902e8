import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { describeFirstProblem } from "../foundation/problems.ts";
import { scoreSpam } from "./score-spam.ts";
import { noHistory } from "./spam-history.ts";
import { readBody, type SpamPost } from "./spam-post.ts";
import type { SpamSettings } from "./spam-settings.ts";
import { CLASS_SCORES, type SpamVerdict } from "./spam-verdict.ts";

const row = z.object({
  id: z.string(),
  source: z.string(),
  label: z.enum(["spam", "ham"]),
  data: z.record(z.string(), z.unknown()),
  ip_address: z.string().nullish(),
  user_agent: z.string().nullish(),
});

/** A labelled post. `data` is the body as it was sent, with control members. */
export type EvalRow = z.infer<typeof row>;

/** The number of rows with one label, and the number of them that reached each score. */
export interface LabelCounts {
  rows: number;
  at26: number;
  at51: number;
  at76: number;
}

export interface EvalReport {
  readonly rows: number;
  /** The counts of each source, in the order in which the sources first occur. */
  readonly sources: readonly {
    readonly source: string;
    readonly spam: LabelCounts;
    readonly ham: LabelCounts;
  }[];
  readonly spam: LabelCounts;
  readonly ham: LabelCounts;
  /** The area under the ROC curve of the scores, with ties counted half; null if a label has no rows. */
  readonly rocAuc: number | null;
  /** Time to score one post, in microseconds. */
  readonly microseconds: { readonly p50: number; readonly p99: number };
}

/** @param position file and number of the line, for the message @throws usage */
export function parseEvalRow(line: string, position: string): EvalRow {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new FormsvcError("usage", `${position}: not a JSON object`);
  }
  const parsed = row.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new FormsvcError("usage", `${position}: ${describeFirstProblem(parsed.error)}`);
}

/** Scores rows, each without history, and counts the results. */
export interface Evaluation {
  score(row: EvalRow): SpamVerdict;
  report(): EvalReport;
}

export function createEvaluation(settings: SpamSettings, honeypots: readonly string[]): Evaluation {
  const sources = new Map<string, { source: string; spam: LabelCounts; ham: LabelCounts }>();
  const all = { spam: noCounts(), ham: noCounts() };
  const scores = { spam: scoreCounts(), ham: scoreCounts() };
  const times: number[] = [];
  return {
    score(item) {
      const post = postOf(item, honeypots);
      const begin = performance.now();
      const verdict = scoreSpam(post, settings, noHistory);
      times.push((performance.now() - begin) * 1000);
      let source = sources.get(item.source);
      if (source === undefined) {
        source = { source: item.source, spam: noCounts(), ham: noCounts() };
        sources.set(item.source, source);
      }
      count(source[item.label], verdict.score);
      count(all[item.label], verdict.score);
      scores[item.label][verdict.score] = (scores[item.label][verdict.score] ?? 0) + 1;
      return verdict;
    },
    report() {
      const sorted = [...times].sort((a, b) => a - b);
      return {
        rows: times.length,
        sources: [...sources.values()],
        ...all,
        rocAuc: rocAuc(scores.spam, scores.ham),
        microseconds: { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) },
      };
    },
  };
}

/** Makes a post of a row. Without an IP address or a user agent its client is unknown. */
function postOf({ data, ip_address, user_agent }: EvalRow, honeypots: readonly string[]): SpamPost {
  const client = {
    ipAddress: ip_address ?? "",
    userAgent: user_agent ?? undefined,
    acceptLanguage: undefined,
  };
  return readBody(data, honeypots, {}, ip_address || user_agent ? client : null);
}

function noCounts(): LabelCounts {
  return { rows: 0, at26: 0, at51: 0, at76: 0 };
}

function count(counts: LabelCounts, score: number): void {
  counts.rows += 1;
  if (score >= CLASS_SCORES.medium[0]) counts.at26 += 1;
  if (score >= CLASS_SCORES.high[0]) counts.at51 += 1;
  if (score >= CLASS_SCORES.blocked[0]) counts.at76 += 1;
}

/** One count for each score from 0 to 100. */
function scoreCounts(): Float64Array {
  return new Float64Array(CLASS_SCORES.blocked[1] + 1);
}

function rocAuc(spam: Readonly<Float64Array>, ham: Readonly<Float64Array>): number | null {
  let hamBelow = 0;
  let wins = 0;
  let spamRows = 0;
  for (let score = 0; score < spam.length; score += 1) {
    const spamHere = spam[score] ?? 0;
    const hamHere = ham[score] ?? 0;
    wins += spamHere * (hamBelow + hamHere / 2);
    hamBelow += hamHere;
    spamRows += spamHere;
  }
  return spamRows === 0 || hamBelow === 0 ? null : wins / (spamRows * hamBelow);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
