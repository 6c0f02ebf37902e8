import { BucketSet } from "./bucket-set.ts";
import { MAX_WORDS } from "./read-words.ts";

/** The number of buckets with weights of a workspace. */
export const LESSON_BUCKETS = 8192;
/** The largest number of a sender's posts from which the filter learns, so that nobody can bend it by sending many. */
const MAX_LESSONS_A_SENDER = 5;
/** The largest amount by which all marks together move the log-odds of a post. */
export const MAX_SHIFT = 3;
const STEP = 2;
/** The largest number of word buckets of a post that a lesson keeps. */
const MAX_BUCKETS_A_LESSON = 400;

/**
 * The content of one mark: everything that is needed to learn it again. So all lessons can be learned anew after one of them was taken
 * back.
 */
export interface Lesson {
  readonly spam: boolean;
  /** The sender of the post: the hash of the e-mail address, or a text that no other post has. */
  readonly sender: string;
  /** The different buckets of the post's words, each below {@link LESSON_BUCKETS}. */
  readonly buckets: Readonly<Uint16Array>;
  /** The log-odds that the shipped model gave the post. */
  readonly odds: number;
}

const lessonSet = new BucketSet(LESSON_BUCKETS, 2 * MAX_WORDS);
const shortened = new Uint32Array(2 * MAX_WORDS);

/**
 * Converts the buckets of a post's words from those of the model to those of lessons: drops the last two bits. So lessons of the first
 * version, whose model had a quarter of the buckets, keep their meaning.
 */
export function lessonBuckets({ buckets, count }: Readonly<BucketSet>): Uint16Array {
  for (let index = 0; index < count; index += 1)
    shortened[index] = ((buckets[index] ?? 0) >>> 2) % LESSON_BUCKETS;
  const lesson = lessonSet.hold(shortened, count);
  return Uint16Array.from(lesson.buckets.subarray(0, Math.min(lesson.count, MAX_BUCKETS_A_LESSON)));
}

/** Calculates the weights from all lessons, in the order in which they were given. The same lessons always give the same weights. */
export function learn(lessons: readonly Lesson[]): Float32Array {
  const weights = new Float32Array(LESSON_BUCKETS);
  const given = new Map<string, number>();
  for (const { spam, sender, buckets, odds } of lessons) {
    const before = given.get(sender) ?? 0;
    if (before >= MAX_LESSONS_A_SENDER || buckets.length === 0) continue;
    given.set(sender, before + 1);
    const probability = 1 / (1 + Math.exp(-(odds + shiftOf(weights, buckets))));
    const step = (STEP * ((spam ? 1 : 0) - probability)) / Math.sqrt(buckets.length);
    // By index, here and in shiftOf: a list of 2,000 lessons is learned in a third of the time.
    for (let index = 0; index < buckets.length; index += 1) {
      const bucket = buckets[index] ?? 0;
      weights[bucket] = (weights[bucket] ?? 0) + step;
    }
  }
  return weights;
}

/** The amount by which the lessons move the log-odds of a post, from -{@link MAX_SHIFT} (genuine) to {@link MAX_SHIFT} (spam). */
export function shiftOf(weights: Readonly<Float32Array>, buckets: Readonly<Uint16Array>): number {
  if (buckets.length === 0) return 0;
  let sum = 0;
  for (let index = 0; index < buckets.length; index += 1) sum += weights[buckets[index] ?? 0] ?? 0;
  return Math.max(-MAX_SHIFT, Math.min(MAX_SHIFT, sum / Math.sqrt(buckets.length)));
}
