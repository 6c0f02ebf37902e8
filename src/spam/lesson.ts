import { BucketSet } from "./bucket-set.ts";
import { MAX_WORDS } from "./read-words.ts";

/** Buckets of a workspace's own weights. */
export const LESSON_BUCKETS = 8192;
/** The largest number of posts of one sender that teach, so that nobody can bend the filter by sending many. */
const MAX_LESSONS_A_SENDER = 5;
/** The most that all marks together move a post's log-odds. */
export const MAX_SHIFT = 3;
const STEP = 2;
/** The largest number of word buckets of a post that a lesson keeps. */
const MAX_BUCKETS_A_LESSON = 400;

/** What one mark taught: everything needed to learn it again, so that any other can be unlearned. */
export interface Lesson {
  readonly spam: boolean;
  /** Who sent the post: the hash of the e-mail address, or anything that no other post has. */
  readonly sender: string;
  /** Different buckets below {@link LESSON_BUCKETS}. */
  readonly buckets: Readonly<Uint16Array>;
  /** The log-odds that the shipped model gave. */
  readonly odds: number;
}

const lessonSet = new BucketSet(LESSON_BUCKETS, 2 * MAX_WORDS);
const shortened = new Uint32Array(2 * MAX_WORDS);

/**
 * The buckets of a post's words for learning, from its word buckets for the model, without their last two bits: lessons of
 * the first version, whose model had a quarter of the buckets, keep their meaning.
 */
export function lessonBuckets({ buckets, count }: Readonly<BucketSet>): Uint16Array {
  for (let index = 0; index < count; index += 1)
    shortened[index] = ((buckets[index] ?? 0) >>> 2) % LESSON_BUCKETS;
  const lesson = lessonSet.hold(shortened, count);
  return Uint16Array.from(lesson.buckets.subarray(0, Math.min(lesson.count, MAX_BUCKETS_A_LESSON)));
}

/** The weights after all lessons, in the order in which they were given. The same lessons give the same weights. */
export function learn(lessons: readonly Lesson[]): Float32Array {
  const weights = new Float32Array(LESSON_BUCKETS);
  const given = new Map<string, number>();
  for (const { spam, sender, buckets, odds } of lessons) {
    const before = given.get(sender) ?? 0;
    if (before >= MAX_LESSONS_A_SENDER || buckets.length === 0) continue;
    given.set(sender, before + 1);
    const probability = 1 / (1 + Math.exp(-(odds + shiftOf(weights, buckets))));
    const step = (STEP * ((spam ? 1 : 0) - probability)) / Math.sqrt(buckets.length);
    for (const bucket of buckets) weights[bucket] = (weights[bucket] ?? 0) + step;
  }
  return weights;
}

/** How far the lessons move a post's log-odds: from -{@link MAX_SHIFT} for genuine to that for spam. */
export function shiftOf(weights: Readonly<Float32Array>, buckets: Readonly<Uint16Array>): number {
  if (buckets.length === 0) return 0;
  let sum = 0;
  for (const bucket of buckets) sum += weights[bucket] ?? 0;
  return Math.max(-MAX_SHIFT, Math.min(MAX_SHIFT, sum / Math.sqrt(buckets.length)));
}
