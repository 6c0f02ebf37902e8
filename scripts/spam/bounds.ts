import { contentPoints } from "../../src/spam/score-spam.ts";
import { CONTENT_BOUNDS } from "../../src/spam/points.ts";
import type { Case } from "./cases.ts";
import type { Check } from "./checks.ts";
import { seededRandom } from "./seeded-random.ts";

/** The largest shares of genuine posts that may be suspicious and that may be blocked. */
const SUSPICIOUS = 0.003;
const BLOCKED = 0.0005;
const RESAMPLES = 400;
/** Sources without posts of a form: letters of a company's staff, and other languages, which have their own check. */
const UNLIKE_POSTS = /^(?:enron-spam|ham-multilingual-ud)$/;

/**
 * The lowest number of points that at most a certain share of the posts reaches. `points` is the median of all draws; 95 of 100 draws are
 * between `from` and `to`.
 */
interface Bound {
  readonly points: number;
  readonly from: number;
  readonly to: number;
}

/** The genuine posts that decide the bounds: those of `measure` that are like posts of a form, and short sentences of other people. */
export function likePosts(measure: readonly Case[], short: readonly Case[]): Case[] {
  return [...measure.filter(({ label, source }) => label === "ham" && !UNLIKE_POSTS.test(source)), ...short];
}

export interface Bounds {
  readonly high: Bound;
  readonly blocked: Bound;
}

export function boundsOf(genuine: readonly Case[]): Bounds {
  const clusters = [...Map.groupBy(genuine, ({ cluster }) => cluster).values()].map((members) =>
    members.map(({ evidence }) => contentPoints(evidence)),
  );
  return { high: drawBound(clusters, SUSPICIOUS), blocked: drawBound(clusters, BLOCKED) };
}

/** Draws whole clusters with replacement. The seed is constant. */
function drawBound(clusters: readonly (readonly number[])[], share: number): Bound {
  const random = seededRandom(20_261_123);
  const draws = Array.from({ length: RESAMPLES }, () => {
    const drawn = clusters.flatMap(() => clusters[Math.floor(random() * clusters.length)] ?? []);
    drawn.sort((a, b) => b - a);
    return (drawn[Math.floor(drawn.length * share)] ?? 0) + 1;
  }).sort((a, b) => a - b);
  const at = (place: number): number => draws[Math.floor(RESAMPLES * place)] ?? 0;
  return { points: at(0.5), from: at(0.025), to: at(0.975) };
}

/** Checks whether the bounds in force are those that the genuine posts give. */
export function boundChecks({ high, blocked }: Bounds): Check[] {
  const check = (what: string, bound: Bound, inForce: number): Check => ({
    what: `points that ${what}, ${bound.points} [${bound.from}-${bound.to}], off from those in force`,
    value: Math.abs(bound.points - inForce),
    bound: { atMost: 0 },
    unit: "points",
  });
  return [
    check(`${SUSPICIOUS * 100} % of genuine posts reach`, high, CONTENT_BOUNDS.high),
    check(`${BLOCKED * 100} % of genuine posts reach`, blocked, CONTENT_BOUNDS.blocked),
  ];
}
