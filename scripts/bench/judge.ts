import { compileSchema } from "../../src/schemas/compile-schema.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { judge, type SpamPost } from "../../src/spam/judge.ts";
import { teachingOf, traceOf } from "../../src/spam/post-trace.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { hostilePosts } from "../../test/spam/hostile-posts.ts";
import { client } from "../../test/spam/posts.ts";

/**
 * Time to validate and judge a contact form, its traces for the memory included, and the worst of many hostile posts of
 * 64 KiB. Usage: node scripts/bench/judge.ts
 */
const WARM_UP = 5000;
const POSTS = 20_000;
const PLAIN =
  "Good morning, my daughter lost her red scarf at your swimming pool yesterday afternoon, most likely in the changing " +
  "room for women. Has anybody handed it in? We can come by on Saturday to pick it up. Her initials are in the seam.";
const PITCH =
  "Hi, I came across your website and noticed that it is not on page one of Google. We offer affordable SEO packages with " +
  "guaranteed rankings from $99 a month, no obligation. See https://rank-up.example.xyz and reply for your free audit.";
const settings = defaultSpamSettings(3);
/** With keywords and a rule of the owner's, which have to be looked for too. */
const ownSettings = {
  ...settings,
  keywords: Array.from({ length: 200 }, (_, index) => ({ word: `word ${index}`, effect: 10 })),
  rules: [{ field: null, pattern: "(a|aa|b+)+c", effect: 10 }],
};
const schema = compileSchema(exampleSchema, "drop");

interface Times {
  readonly validate: number;
  readonly judge: number;
}

/** One post, parsed anew as each that arrives is, in microseconds. */
function measure(body: string): Times {
  const fields = JSON.parse(body) as Record<string, unknown>;
  const begin = performance.now();
  const checked = schema.validate(fields);
  const validated = performance.now();
  if (!checked.ok) throw new Error("the post does not fit its schema");
  const post: SpamPost = { fields: checked.data, honeypots: [], elapsedMs: null, client };
  traceOf(post);
  judge(post, settings, noHistory);
  return { validate: (validated - begin) * 1000, judge: (performance.now() - validated) * 1000 };
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  return `${at(0.5)} | ${at(0.99)}`;
}

function contactForm(name: string, message: string): void {
  const bodies = Array.from({ length: WARM_UP + POSTS }, (_, index) =>
    JSON.stringify({
      name: "Ada Lovelace",
      email: `ada${index}@example.com`,
      message: `${message} ${index}`,
    }),
  );
  const times = bodies.map(measure).slice(WARM_UP);
  process.stdout.write(`| ${name}: validate | ${quantiles(times.map(({ validate }) => validate))} |\n`);
  process.stdout.write(`| ${name}: judge | ${quantiles(times.map((time) => time.judge))} |\n`);
  process.stdout.write(
    `| ${name}: together | ${quantiles(times.map((time) => time.judge + time.validate))} |\n`,
  );
}

function hostile(): void {
  const slowest = hostilePosts().map(({ name, post }) => {
    const times = Array.from({ length: 5 }, () => {
      const again = { ...post };
      const begin = performance.now();
      traceOf(again);
      teachingOf(again);
      judge(again, ownSettings, noHistory);
      return performance.now() - begin;
    });
    return { name, ms: times.sort((a, b) => a - b)[2] ?? 0 };
  });
  const [worst] = slowest.sort((a, b) => b.ms - a.ms);
  process.stdout.write(
    `worst of ${slowest.length} hostile posts of 64 KiB: ${worst?.ms.toFixed(1)} ms, ${worst?.name}\n`,
  );
}

process.stdout.write("| microseconds a post | p50 | p99 |\n|---|---|---|\n");
contactForm("plain message", PLAIN);
contactForm("pitch", PITCH);
hostile();
