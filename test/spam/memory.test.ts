import { expect, test } from "vitest";
import { learn, type Lesson, MAX_SHIFT, shiftOf } from "../../src/spam/lesson.ts";
import { findLinks } from "../../src/spam/links.ts";
import { linkKeys } from "../../src/spam/link-keys.ts";
import { countOthers, networkOf, senderOf, teachingOf, traceOf } from "../../src/spam/post-trace.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { isCopy, sketchOf } from "../../src/spam/text-sketch.ts";
import { readOwnTexts } from "../../scripts/spam/texts.ts";
import { judge } from "../../src/spam/judge.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { postOf } from "./posts.ts";

const long = Array.from(
  { length: 60 },
  (_, index) => `word${String.fromCharCode(97 + (index % 26), 97 + (index % 7))}`,
);

function sketch(words: readonly string[]) {
  const made = sketchOf(readWords(words.join(" ")));
  if (made === null) throw new Error("too short");
  return made;
}

test("a long text with a few words changed is a copy that shares a key, and half of it is none", () => {
  const changed = long.map((word, index) => (index === 30 ? "other" : word));
  const [one, other, half] = [
    sketch(long),
    sketch(changed),
    sketch([
      ...long.slice(0, 30),
      ..."the rest is about something else entirely and goes on for a while so that it is long too".split(
        " ",
      ),
    ]),
  ];
  expect(isCopy(one, other)).toBe(true);
  expect(one.keys.some((key) => other.keys.includes(key))).toBe(true);
  expect(isCopy(one, half)).toBe(false);
});

test("a short text is a copy only word for word, and one of three words is not remembered", () => {
  expect(isCopy(sketch(["please", "send", "the", "list"]), sketch(["please", "send", "the", "list"]))).toBe(
    true,
  );
  expect(isCopy(sketch(["please", "send", "the", "list"]), sketch(["please", "send", "the", "lists"]))).toBe(
    false,
  );
  expect(sketchOf(readWords("thank you all"))).toBeNull();
});

test("keys fit into an SQL integer", () => {
  for (const key of sketch(long).keys) expect(Number.isSafeInteger(key) && key >= 0).toBe(true);
});

test("a link is known by its site, on shared hosts by its whole address, and two of a post at most", () => {
  const keysOf = (text: string) => linkKeys(findLinks(text));
  expect(keysOf("https://roses.example.org/a")).toEqual(keysOf("see www.roses.example.org/b?c"));
  expect(keysOf("https://bit.ly/one")).not.toEqual(keysOf("https://bit.ly/two"));
  expect(keysOf("https://youtube.com/watch and nothing else")).toEqual([]);
  expect(keysOf("one.example.org two.example.org three.example.org")).toHaveLength(2);
  for (const key of keysOf("one.example.org t.me/two")) expect(Number.isSafeInteger(key)).toBe(true);
});

test("the sender is known by e-mail address and network whatever the case, and neither can be read back", () => {
  const one = senderOf(traceOf(postOf({ email: "Ana@example.org", message: "a b c d e" })));
  const other = senderOf(traceOf(postOf({ mail: "ana@EXAMPLE.org", message: "f" })));
  expect(one.email).toBe(other.email);
  expect(JSON.stringify(one)).not.toContain("ana");
  expect(networkOf("192.0.2.77")).toBe(networkOf("192.0.2.1"));
  expect(networkOf("2001:db8:1:2::3")).toBe(networkOf("2001:db8:1:ffff::"));
  expect(networkOf("2001:db8:1::3")).not.toBe(networkOf("2001:db8:2::3"));
});

test("only senders that share neither e-mail address nor network count as others", () => {
  const sender = (email: string | null, network: string | null) => ({ email, network });
  const me = sender("a", "1");
  expect(countOthers(me, [sender("a", "2"), sender("b", "1"), sender(null, null)])).toBe(0);
  expect(countOthers(me, [sender("b", "2"), sender("c", "2"), sender("b", "3"), sender("d", "4")])).toBe(2);
  expect(countOthers(sender(null, null), [sender("b", "2")])).toBe(0);
  expect(countOthers(sender("a", null), [sender(null, "2"), sender("b", "2")])).toBe(1);
});

function lesson(message: string, spam: boolean, sender: string): Lesson {
  return { spam, sender, ...teachingOf(postOf({ message })) };
}

const pitch = "our cleaning crew polishes marble floors overnight for a fair rate";
const plain = "the choir meets on thursday in the old school behind the church";

test("marks move what is like them and leave the rest alone", () => {
  const weights = learn([lesson(pitch, true, "a"), lesson(plain, false, "b")]);
  expect(shiftOf(weights, lesson(pitch, true, "").buckets)).toBeGreaterThan(0.5);
  expect(shiftOf(weights, lesson("snow fell deep across northern hills", true, "").buckets)).toBeCloseTo(
    0,
    0,
  );
});

test("a mark that is undone leaves no trace: the weights are those of the other lessons", () => {
  const [one, two, three] = [lesson(pitch, true, "a"), lesson(plain, true, "b"), lesson(plain, false, "c")];
  expect(learn([one, three])).toEqual(learn([one, two, three].filter((other) => other !== two)));
  expect(learn([])).toEqual(new Float32Array(8192));
});

test("one sender's posts teach five times at most, and nothing ever moves a post by more than the limit", () => {
  const times = (count: number) => learn(Array.from({ length: count }, () => lesson(pitch, true, "same")));
  expect(times(500)).toEqual(times(5));
  const many = learn(Array.from({ length: 500 }, (_, index) => lesson(pitch, true, String(index))));
  expect(shiftOf(many, lesson(pitch, true, "").buckets)).toBeLessThanOrEqual(MAX_SHIFT);
});

test("marking a tenth of the spam lowers no later recall and blocks no more genuine posts", () => {
  const texts = readOwnTexts(new URL("../../scripts/spam/texts/", import.meta.url));
  const marked = texts.filter(({ label }, index) => label === "spam" && index % 10 === 0);
  const weights = learn(marked.map(({ id, text }) => lesson(text, true, id)));
  const settings = defaultSpamSettings(3);
  const counts = { spamBefore: 0, spamAfter: 0, hamBefore: 0, hamAfter: 0 };
  for (const { label, text } of texts) {
    const post = postOf({ message: text });
    const shift = shiftOf(weights, teachingOf(post).buckets);
    const before = judge(post, settings, noHistory).score;
    const after = judge(post, settings, { ...noHistory, shift }).score;
    if (label === "spam") {
      if (before >= 51) counts.spamBefore += 1;
      if (after >= 51) counts.spamAfter += 1;
    } else {
      if (before >= 76) counts.hamBefore += 1;
      if (after >= 76) counts.hamAfter += 1;
    }
  }
  expect(counts.spamAfter).toBeGreaterThanOrEqual(counts.spamBefore);
  expect(counts.hamAfter).toBe(counts.hamBefore);
});
