import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/database/migrate.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { createBurstMemory } from "../../src/history/burst-memory.ts";
import { toRemember } from "../../src/history/remember-texts.ts";
import { createSpamMemory } from "../../src/history/spam-memory.ts";
import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { exampleSchema } from "../../test/support/example-schema.ts";
import { scoreSpam } from "../../src/spam/score-spam.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import { teachingOf, traceOf } from "../../src/spam/post-trace.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { hostilePosts } from "../../test/spam/hostile-posts.ts";
import { client } from "../../test/spam/posts.ts";
import { type Figure, renderFigures } from "./figures.ts";
import { median } from "./processes.ts";

/**
 * Measures the time to validate and score a contact form, including its traces for the memory; a flood of copies, including the memory
 * itself; and the slowest of many hostile posts of 64 KiB.
 * Usage: node scripts/bench/filter.ts
 */
const WARM_UP = 5000;
const POSTS = 20_000;
/** The number of posts in one commit. */
const BATCH = 64;
const BATCHES = 60;
const PLAIN =
  "Good morning, my daughter lost her red scarf at your swimming pool yesterday afternoon, most likely in the changing " +
  "room for women. Has anybody handed it in? We can come by on Saturday to pick it up. Her initials are in the seam.";
const PITCH =
  "Hi, I came across your website and noticed that it is not on page one of Google. We offer affordable SEO packages with " +
  "guaranteed rankings from $99 a month, no obligation. See https://rank-up.example.xyz and reply for your free audit.";
const settings = defaultSpamSettings(3);
/** Settings with the owner's keywords and a rule, which the filter must also look for. */
const ownSettings = {
  ...settings,
  keywords: Array.from({ length: 200 }, (_, index) => ({ word: `word ${index}`, effect: 10 })),
  rules: [{ field: null, pattern: "(a|aa|b+)+c", effect: 10 }],
};
const schema = compileSchema(exampleSchema, "drop");

interface Times {
  readonly validate: number;
  readonly score: number;
}

/** Measures one post, in microseconds. It is parsed anew, like each post that arrives. */
function measure(body: string): Times {
  const fields = JSON.parse(body) as Record<string, unknown>;
  const begin = performance.now();
  const checked = schema.validate(fields);
  const validated = performance.now();
  if (!checked.ok) throw new Error("the post does not fit its schema");
  const post: SpamPost = { fields: checked.data, honeypots: [], elapsedMs: null, client };
  traceOf(post);
  scoreSpam(post, settings, noHistory);
  return { validate: (validated - begin) * 1000, score: (performance.now() - validated) * 1000 };
}

if (import.meta.main) process.stdout.write(renderFigures(measureFilter()));

export function measureFilter(): Figure[] {
  return [
    ...contactForm("a plain contact form", PLAIN),
    ...contactForm("a pitch", PITCH),
    flood(),
    hostile(),
  ];
}

/** Compares copies of one pitch from new senders with pitches of new words. The reading and writing of the memory are included. */
function flood(): Figure {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-flood-"));
  const db = openDatabase(join(folder, "flood.db"), { busyTimeoutMs: 1000 });
  try {
    migrate(db);
    const take = memoryOf(db);
    const times = { other: [] as number[], copied: [] as number[] };
    for (let batch = 0; batch < BATCHES; batch += 1) {
      times.other.push(take(batchOf(batch, (number) => `${PITCH} ${newWords(number)}`)));
      times.copied.push(take(batchOf(batch, () => `${PITCH} ${newWords(0)}`)));
    }
    return {
      figure: `score and remember a copy of a pitch that floods a form over another pitch, ${BATCH} in a commit`,
      value: median(times.copied) / median(times.other),
      unit: "",
      bound: { atMost: 1 },
    };
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

/** Recalls, scores and remembers the posts of a workspace as a server does. Returns the time in milliseconds. */
function memoryOf(db: SqliteDatabase): (posts: readonly SpamPost[]) => number {
  const memory = createSpamMemory(createBurstMemory());
  const { workspace } = db.now(() => insertAccountRows("ana@example.org", 0));
  return (posts) => {
    const begin = performance.now();
    const recalled = posts.flatMap((post) => {
      const recollection = db.now(() => memory.recall(workspace.id, "form", post, 0));
      const { spamClass } = scoreSpam(post, settings, recollection.history);
      return toRemember(workspace.id, recollection, spamClass) ?? [];
    });
    db.transactionNow(() => db.now(() => memory.remember(recalled)));
    return performance.now() - begin;
  };
}

function batchOf(batch: number, message: (number: number) => string): SpamPost[] {
  return Array.from({ length: BATCH }, (_, index) => {
    const number = batch * BATCH + index;
    const ipAddress = `10.${number >> 8}.${number & 255}.7`;
    const fields = { email: `p${number}@example.org`, message: message(number) };
    return { fields, honeypots: [], elapsedMs: null, client: { ...client, ipAddress } };
  });
}

/** Makes sixty words that no other number gets. */
function newWords(number: number): string {
  return Array.from({ length: 60 }, (_, index) => (number * 60 + index + 1e6).toString(36)).join(" ");
}

function contactForm(what: string, message: string): Figure[] {
  const bodies = Array.from({ length: WARM_UP + POSTS }, (_, index) =>
    JSON.stringify({
      name: "Ada Lovelace",
      email: `ada${index}@example.com`,
      message: `${message} ${index}`,
    }),
  );
  const times = bodies.map(measure).slice(WARM_UP);
  const together = times.map((time) => time.validate + time.score).sort((a, b) => a - b);
  const at = (share: number): number => together[Math.floor(together.length * share)] ?? 0;
  return [
    { figure: `validate and score ${what}, p50`, value: at(0.5), unit: "µs", bound: { atMost: 60 } },
    { figure: `validate and score ${what}, p99`, value: at(0.99), unit: "µs", bound: { atMost: 1000 } },
  ];
}

function hostile(): Figure {
  const posts = hostilePosts();
  const slowest = posts.map(({ post }) => {
    const times = Array.from({ length: 5 }, () => {
      const again = { ...post };
      const begin = performance.now();
      traceOf(again);
      teachingOf(again);
      scoreSpam(again, ownSettings, noHistory);
      return performance.now() - begin;
    });
    return median(times);
  });
  return {
    figure: `score the worst of ${posts.length} hostile posts of 64 KiB`,
    value: Math.max(...slowest),
    unit: "ms",
    bound: { atMost: 20 },
  };
}
