import { expect, test } from "vitest";
import { learn, type Lesson, MAX_SHIFT, shiftOf } from "../../src/spam/lesson.ts";
import { findContacts } from "../../src/spam/contacts.ts";
import { countOthers, networkOf, senderOf, teachingOf, traceOf } from "../../src/spam/post-trace.ts";
import { readWords } from "../../src/spam/read-words.ts";
import { likenessOf, sketchOf } from "../../src/spam/text-sketch.ts";
import { readOwnTexts } from "../../scripts/spam/texts.ts";
import { scoreSpam } from "../../src/spam/score-spam.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { postOf } from "./posts.ts";

const long = Array.from(
  { length: 60 },
  (_, index) => `word${String.fromCharCode(97 + (index % 26), 97 + (index % 7))}`,
);

function sketch(words: readonly string[]) {
  const made = sketchOfText(words.join(" "));
  if (made === null) throw new Error("too short");
  return made;
}

function sketchOfText(text: string) {
  return sketchOf(readWords(text));
}

test("a long text with a word changed is a copy, with a few a variant, both share a key, and half of it is neither", () => {
  const changed = (every: number) =>
    long.map((word, index) => (index % every === every - 1 ? "other" : word));
  const [one, other, variant, half] = [
    sketch(long),
    sketch(changed(60)),
    sketch(changed(12)),
    sketch([
      ...long.slice(0, 30),
      ..."the rest is about something else entirely and goes on for a while so that it is long too".split(
        " ",
      ),
    ]),
  ];
  expect(likenessOf(one, other)).toBe("copy");
  expect(likenessOf(one, variant)).toBe("variant");
  for (const near of [other, variant]) expect(one.keys.some((key) => near.keys.includes(key))).toBe(true);
  expect(likenessOf(one, half)).toBeNull();
});

test("a short text is a copy only word for word, and one of three words is not remembered", () => {
  const list = ["please", "send", "the", "list"];
  expect(likenessOf(sketch(list), sketch(list))).toBe("copy");
  expect(likenessOf(sketch(list), sketch(["please", "send", "the", "lists"]))).toBeNull();
  expect(sketchOfText("thank you all")).toBeNull();
});

test.each([
  {
    script: "Chinese",
    one: "您好我们公司为各地的商店制作网站和海报价格优惠质量可靠如果您有兴趣请在本周内与我们的王经理联系我们可以免费为您设计第一张海报",
    other:
      "您好我们公司为各地的餐厅制作网站和海报价格优惠质量可靠如果您有兴趣请在本周内与我们的王经理联系我们可以免费为您设计第一张海报",
  },
  {
    script: "Thai",
    one: "สวัสดีเราเป็นบริษัทรับทำเว็บไซต์และโปสเตอร์ราคาถูกคุณภาพดีหากสนใจโปรดติดต่อเราภายในสัปดาห์นี้เราออกแบบให้ฟรี",
    other: "สวัสดีเราเป็นบริษัทรับทำเว็บไซต์และโปสเตอร์ราคาถูกคุณภาพดีหากสนใจโปรดติดต่อเราภายในเดือนนี้เราออกแบบให้ฟรี",
  },
])(
  "a long text in $script is known by nearly the same characters, without a space in it",
  ({ one, other }) => {
    const [first, second] = [sketchOfText(one), sketchOfText(other)];
    expect(first !== null && second !== null && likenessOf(first, second)).toBe("copy");
    expect(first?.keys.some((key) => second?.keys.includes(key))).toBe(true);
  },
);

test("of a script without spaces, eight characters are remembered, and shorter texts only by the same characters", () => {
  expect(sketchOfText("请把价格表寄给")).toBeNull();
  const [one, other] = [sketchOfText("请把价格表寄给我"), sketchOfText("请把价格表寄给他")];
  expect(one !== null && other !== null && likenessOf(one, other)).toBeNull();
});

test("keys fit into an SQL integer", () => {
  for (const key of sketch(long).keys) expect(Number.isSafeInteger(key) && key >= 0).toBe(true);
});

const placesOf = (message: string, phone = "") => traceOf(postOf({ message, phone })).targets;

test("a link is known by its site, on shared hosts by its whole address, and two of a post at most", () => {
  expect(placesOf("https://roses.example.org/a")).toEqual(placesOf("see www.roses.example.org/b?c"));
  expect(placesOf("https://bit.ly/one")).not.toEqual(placesOf("https://bit.ly/two"));
  expect(placesOf("https://youtube.com/watch and nothing else")).toEqual([]);
  expect(placesOf("one.example.org two.example.org three.example.org")).toHaveLength(2);
  for (const key of placesOf("one.example.org t.me/two")) expect(Number.isSafeInteger(key)).toBe(true);
});

test("an e-mail address leads to the site of its domain, at providers of mailboxes only to its mailbox", () => {
  expect(placesOf("write to Ana@Roses.example.org.")).toEqual(placesOf("see https://roses.example.org/a"));
  expect(placesOf("roses.example.org or ana@roses.example.org")).toHaveLength(1);
  expect(placesOf("to ana@gmail.com")).toEqual(placesOf("Mail: ANA@gmail.com!"));
  expect(placesOf("to ana@gmail.com")).not.toEqual(placesOf("to bo@gmail.com"));
  expect(placesOf("to somebody@microsoft.com")).toEqual([]);
});

test("a phone number is the same place however it is written, in the text or in a field of its own", () => {
  const place = placesOf("call 0211 4567 803 now");
  expect(place).toHaveLength(1);
  for (const written of ["+49 (211) 4567-803", "tel.: 00492114567803,", "0211 / 4567803"])
    expect(placesOf(`call ${written} now`), written).toEqual(place);
  expect(placesOf("call me", "+49 211 4567803")).toEqual(place);
  expect(placesOf("call 0211 4567 804 now")).not.toEqual(place);
});

test.each([
  "on 2026-11-22 19:30:05 and 22.11.2026 19:30:05",
  "card 4111 1111 1111 1234",
  "order A1234567890 of item-1234567890",
  "000000000 or 1212121212",
  "12345678",
  "a price of 1,250,000,300.50",
])("no number of this is a phone number: %s", (text) => {
  expect(findContacts(text)).toEqual([]);
});

test("a name in a chat is a place, and two places besides links are the most of a post", () => {
  expect(findContacts("Telegram: @Rose_Dealer")).toEqual(["@rose_dealer"]);
  expect(placesOf("a@one.example b@two.example c@three.example @four, 0211 4567803")).toHaveLength(2);
});

test("the sender is known by e-mail address and network whatever the case, and neither can be read back", () => {
  const one = senderOf(traceOf(postOf({ email: "Ana@example.org", message: "a b c d e" })));
  const other = senderOf(traceOf(postOf({ mail: "ana@EXAMPLE.org", message: "f" })));
  expect(one.email).toBe(other.email);
  expect(JSON.stringify(one)).not.toContain("ana");
  expect(networkOf("192.0.2.77")).toBe(networkOf("192.0.2.1"));
  expect(networkOf("2001:db8:1:2::3")).toBe(networkOf("2001:db8:1:ffff::"));
  expect(networkOf("2001:db8::1")).toBe(networkOf("2001:db8:0:5::1"));
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

test("marking a tenth of the spam raises later recall and blocks no more genuine posts", () => {
  const texts = readOwnTexts(new URL("../../scripts/spam/texts/", import.meta.url));
  const marked = texts.filter(({ label }, index) => label === "spam" && index % 10 === 0);
  const weights = learn(marked.map(({ id, text }) => lesson(text, true, id)));
  const settings = defaultSpamSettings(3);
  const counts = { spamBefore: 0, spamAfter: 0, hamBefore: 0, hamAfter: 0 };
  for (const { label, text } of texts) {
    const post = postOf({ message: text });
    const shift = shiftOf(weights, teachingOf(post).buckets);
    const before = scoreSpam(post, settings, noHistory).score;
    const after = scoreSpam(post, settings, { ...noHistory, shift }).score;
    if (label === "spam") {
      if (before >= 51) counts.spamBefore += 1;
      if (after >= 51) counts.spamAfter += 1;
    } else {
      if (before >= 76) counts.hamBefore += 1;
      if (after >= 76) counts.hamAfter += 1;
    }
  }
  expect(counts.spamAfter).toBeGreaterThan(counts.spamBefore);
  expect(counts.hamAfter).toBe(counts.hamBefore);
});
