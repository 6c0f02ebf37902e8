import { seededRandom } from "./seeded-random.ts";
import { CLASS_SCORES } from "../../src/spam/spam-verdict.ts";

/** A text's score, and the group that it shares with similar texts: a campaign or a kind. */
export interface Scored {
  readonly score: number;
  readonly cluster: string;
}

export const MEDIUM_FROM = CLASS_SCORES.medium[0];
export const HIGH_FROM = CLASS_SCORES.high[0];
export const BLOCKED_FROM = CLASS_SCORES.blocked[0];
const RESAMPLES = 400;

/** The share of texts with at least this score, from 0 to 1. */
export function shareFrom(texts: readonly Scored[], score: number): number {
  return texts.length === 0 ? 0 : texts.filter((text) => text.score >= score).length / texts.length;
}

/**
 * Writes the share and its interval, like "46.2 % [41-51]". The interval contains 95 of 100 draws of whole clusters. The seed is constant.
 */
export function shareWithInterval(texts: readonly Scored[], score: number): string {
  const clusters = [...Map.groupBy(texts, ({ cluster }) => cluster).values()].map((members) => ({
    members: members.length,
    hits: members.filter((text) => text.score >= score).length,
  }));
  const random = seededRandom(20_261_122);
  const shares = Array.from({ length: RESAMPLES }, () => {
    let hits = 0;
    let members = 0;
    for (let draw = 0; draw < clusters.length; draw += 1) {
      const cluster = clusters[Math.floor(random() * clusters.length)];
      hits += cluster?.hits ?? 0;
      members += cluster?.members ?? 0;
    }
    return members === 0 ? 0 : hits / members;
  }).sort((a, b) => a - b);
  const at = (place: number): string => percent(shares[Math.floor(RESAMPLES * place)] ?? 0);
  return `${percent(shareFrom(texts, score))} % [${at(0.025)}-${at(0.975)}]`;
}

export function percent(share: number): string {
  const hundredths = share * 100;
  return hundredths < 2 ? hundredths.toFixed(2).replace(/^0\.00$/, "0") : hundredths.toFixed(1);
}
