import * as fc from "fast-check";
import { expect, test } from "vitest";
import { gatherEvidence, scoreSpam, weigh } from "../../src/spam/score-spam.ts";
import { CONTENT_BOUNDS } from "../../src/spam/points.ts";
import { readPost } from "../../src/spam/read-post.ts";
import type { SpamPost } from "../../src/spam/spam-post.ts";
import { spamClassOf, type SpamReason, type SpamVerdict } from "../../src/spam/spam-verdict.ts";
import { noHistory, type SpamHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { campaignReasons } from "../../src/spam/signals/history.ts";
import { hostilePosts } from "./hostile-posts.ts";
import { client, postOf } from "./posts.ts";
import { senderOf, teachingOf, traceOf } from "../../src/spam/post-trace.ts";

const settings = defaultSpamSettings(3);
const genuine = {
  name: "Ana Ruiz",
  email: "ana@example.org",
  message: "Are you open on Sunday? We are four people.",
};

function verdictOf(post: SpamPost, history: SpamHistory = noHistory): SpamVerdict {
  return scoreSpam(post, settings, history);
}

function signalsOf(post: SpamPost, history?: SpamHistory): string[] {
  return verdictOf(post, history).reasons.map((reason) => reason.signal);
}

test("classes change exactly at 26, 51 and 76", () => {
  const classes = [0, 25, 26, 50, 51, 75, 76, 100].map((score) => spamClassOf(score));
  expect(classes).toEqual(["low", "low", "medium", "medium", "high", "high", "blocked", "blocked"]);
});

test("an ordinary message scores 0 without a reason", () => {
  expect(verdictOf(postOf(genuine))).toEqual({ score: 0, spamClass: "low", reasons: [] });
});

test("a filled honeypot blocks by itself, and nothing that speaks for the sender undoes it", () => {
  const trapped = postOf({ message: "hello there" }, { honeypots: [{ name: "_gotcha", value: "x" }] });
  expect(verdictOf(trapped).spamClass).toBe("blocked");
  expect(verdictOf(trapped, { ...noHistory, trustedSender: true }).spamClass).toBe("blocked");
});

test.each(["Ana@Example.org ", "ana ruiz", "Ruiz"])(
  "a honeypot that autofill filled with the person's own %j only marks the post",
  (value) => {
    const filled = postOf(genuine, { honeypots: [{ name: "_honey", value }] });
    expect(verdictOf(filled).spamClass).toBe("medium");
  },
);

test("a hidden field that repeats a long message was not filled by a browser", () => {
  const message = "we clean carpets and sofas ".repeat(10);
  const post = postOf({ message }, { honeypots: [{ name: "_gotcha", value: message }] });
  expect(signalsOf(post)).toContain("honeypot");
});

test("points for what was written become a score of 51 and of 76 exactly at the bounds, and end at 100", () => {
  const nothing = gatherEvidence(readPost(postOf({ message: "hi" })), settings, noHistory);
  const reason = (signal: string, points: number): SpamReason => ({
    signal,
    points,
    field: null,
    detail: "",
  });
  const scoreOf = (points: number): number =>
    weigh({
      ...nothing,
      links: [reason("link-edge", Math.min(10, points))],
      text: [reason("text", points - Math.min(10, points))],
    }).score;
  const { high, blocked } = CONTENT_BOUNDS;
  expect(scoreOf(0)).toBe(0);
  expect([high - 1, high].map((points) => scoreOf(points) >= 51)).toEqual([false, true]);
  expect([blocked - 1, blocked].map((points) => scoreOf(points) >= 76)).toEqual([false, true]);
  expect([scoreOf(high), scoreOf(blocked), scoreOf(128)]).toEqual([51, 76, 100]);
});

test("one kind of evidence alone never blocks, two kinds do", () => {
  const pitch =
    "I came across your website. We offer SEO and backlinks with guaranteed first page of Google rankings, a free audit and more traffic for your business. Reply with your phone number.";
  const alone = verdictOf(
    postOf({ message: "win viagra bonus casino cheap pills bitcoin profit loan money now" }),
  );
  expect(alone.score).toBe(75);
  expect(alone.reasons.at(-1)?.signal).toBe("one-kind");
  expect(verdictOf(postOf({ message: pitch })).spamClass).toBe("blocked");
});

test("the same genuine message five times from the same sender stays under 51", () => {
  const burst = { posts: 5, endpoints: 1 };
  expect(verdictOf(postOf(genuine), { ...noHistory, burst }).score).toBeLessThan(51);
});

test("a short template that different senders use stays under 51", () => {
  const post = postOf({ message: "Please send me the price list" });
  const history = { ...noHistory, copies: { otherSenders: 6, markedSpam: 0, markedHam: 0 } };
  expect(verdictOf(post, history).score).toBeLessThan(51);
});

const from = (otherSenders: number): SpamHistory => ({
  ...noHistory,
  copies: { otherSenders, markedSpam: 0, markedHam: 0 },
  variantSenders: otherSenders,
});
const campaignPoints = (message: string, history: SpamHistory): number | undefined =>
  verdictOf(postOf({ message }), history).reasons.find(({ signal }) => signal === "campaign")?.points;

test("copies from others never lift a text of a low score, with a link or without", () => {
  const river =
    "The river rose again last night and the lower path is closed between the mill and the old bridge until the water falls.";
  for (const message of [river, `${river} https://river.example.org/map`, "Please send me the price list"])
    expect(campaignPoints(message, from(9))).toBeUndefined();
});

test("copies from others block what is suspicious without them", () => {
  const link = "minutes [url=https://bit.ly/3xyz]";
  expect(verdictOf(postOf({ message: link })).spamClass).toBe("high");
  expect(campaignPoints(link, from(1))).toBe(50);
  expect(verdictOf(postOf({ message: link }), from(1)).spamClass).toBe("blocked");
  const wordsOnly = "win viagra bonus casino cheap pills bitcoin profit loan money now!";
  expect(verdictOf(postOf({ message: wordsOnly })).score).toBe(75);
  expect(verdictOf(postOf({ message: wordsOnly }), from(1)).spamClass).toBe("blocked");
});

test.each([
  { score: 25, isOdd: true, needed: Infinity },
  { score: 26, isOdd: true, needed: 2 },
  { score: 50, isOdd: true, needed: 2 },
  { score: 50, isOdd: false, needed: Infinity },
  { score: 51, isOdd: true, needed: 1 },
  { score: 69, isOdd: false, needed: 2 },
  { score: 70, isOdd: false, needed: 1 },
])(
  "with a score of $score, odd $isOdd, a campaign needs $needed other senders",
  ({ score, isOdd, needed }) => {
    const isCampaign = (otherSenders: number): boolean =>
      campaignReasons(from(otherSenders), () => ({ score, isOdd })).length === 1;
    expect([0, 1, 2, 3, 4].map(isCampaign)).toEqual([0, 1, 2, 3, 4].map((senders) => senders >= needed));
  },
);

test("variants of a text count for a suspicious post only, copies for others too", () => {
  const isCampaign = (score: number, history: Partial<SpamHistory>): boolean =>
    campaignReasons({ ...noHistory, ...history }, () => ({ score, isOdd: true })).length === 1;
  expect(isCampaign(51, { variantSenders: 1 })).toBe(true);
  expect(isCampaign(50, { variantSenders: 8 })).toBe(false);
  expect(isCampaign(50, from(2))).toBe(true);
});

test.each([
  { score: 50, targetSenders: 9, isCampaign: false },
  { score: 51, targetSenders: 1, isCampaign: false },
  { score: 51, targetSenders: 2, isCampaign: true },
])(
  "with a score of $score and a place that $targetSenders other senders led to, it is a campaign: $isCampaign",
  ({ score, targetSenders, isCampaign }) => {
    const history = { ...noHistory, targetSenders };
    expect(campaignReasons(history, () => ({ score, isOdd: true })).length).toBe(isCampaign ? 1 : 0);
  },
);

test("a text that the owner marked is known whatever it says", () => {
  const plain = "The river rose again last night and the lower path is closed.";
  const { copies, ...history } = from(3);
  expect(campaignPoints(plain, { ...history, copies: { ...copies, markedSpam: 1 } })).toBe(60);
  const probe = "Hi, I wanted to know your price.";
  expect(campaignPoints(probe, { ...history, copies: { ...copies, markedHam: 1 } })).toBeUndefined();
});

test("marks move the score both ways, and what speaks for a sender is capped", () => {
  const post = postOf({
    message: "I came across your website. We offer SEO backlinks, guaranteed rankings.",
  });
  const shifted = (shift: number) => verdictOf(post, { ...noHistory, shift }).score;
  expect(shifted(-3)).toBeLessThan(shifted(0));
  const trusted = {
    ...noHistory,
    trustedSender: true,
    shift: -3,
    copies: { otherSenders: 0, markedSpam: 0, markedHam: 2 },
  };
  const forSender = verdictOf(post, trusted).reasons.filter(
    ({ points, signal }) => points < 0 && signal !== "cap",
  );
  expect(forSender.reduce((sum, { points }) => sum + points, 0)).toBe(-60);
  expect(signalsOf(postOf(genuine), { ...noHistory, shift: 3 })).toEqual(["lesson"]);
});

test("for any post the reasons add up to a whole score from 0 to 100, and scoring again gives the same", () => {
  const piece = fc.constantFrom(
    "free",
    "casino",
    "https://bit.ly/x",
    "your website",
    "price",
    "seo backlinks",
    "<a href=",
    "привет",
    "$100",
    "raypal",
    "\u0440\u0430ypal",
    "😀",
  );
  const message = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(piece, { maxLength: 40 }).map((all) => all.join(" ")),
  );
  const post = fc.record({
    fields: fc.record({ name: fc.string(), message, extra: fc.jsonValue() }),
    honeypots: fc.array(fc.record({ name: fc.string(), value: fc.anything() }), { maxLength: 2 }),
    elapsedMs: fc.option(fc.double()),
    client: fc.option(
      fc.record({
        ipAddress: fc.ipV4(),
        userAgent: fc.option(fc.string()),
        acceptLanguage: fc.option(fc.string()),
      }),
    ),
  });
  const history = fc.record({
    copies: fc.record({ otherSenders: fc.nat(9), markedSpam: fc.nat(3), markedHam: fc.nat(3) }),
    variantSenders: fc.nat(9),
    targetSenders: fc.nat(9),
    trustedSender: fc.boolean(),
    burst: fc.record({ posts: fc.nat(20), endpoints: fc.nat(9) }),
    shift: fc.double({ min: -3, max: 3, noNaN: true }),
  });
  fc.assert(
    fc.property(post, history, (post, history) => {
      const verdict = scoreSpam(post, settings, history);
      expect(verdict.reasons.reduce((sum, { points }) => sum + points, 0)).toBe(verdict.score);
      expect(Number.isInteger(verdict.score) && verdict.score >= 0 && verdict.score <= 100).toBe(true);
      expect(scoreSpam(post, settings, history)).toEqual(verdict);
    }),
    { seed: 20_260_401, numRuns: 400 },
  );
});

test("no hostile text of 64 KiB keeps the filter or the memory busy, and its reasons add up", () => {
  const keywords = [{ word: "spam and more", effect: 10 }];
  const rules = [{ field: null, pattern: "(a|aa|b+)+c", effect: 10 }];
  const own = { ...settings, keywords, rules };
  for (const { name, post } of hostilePosts()) {
    const times = [1, 2, 3].map(() => {
      const begin = process.threadCpuUsage();
      // A copy, so that nothing is remembered of the one before.
      const again = { ...post };
      senderOf(traceOf(again));
      teachingOf(again);
      const { score, reasons } = scoreSpam(again, own, noHistory);
      expect(reasons.reduce((sum, { points }) => sum + points, 0)).toBe(score);
      const { user, system } = process.threadCpuUsage(begin);
      return (user + system) / 1000;
    });
    // 20 ms of the thread's own time is the aim; a slow processor gets room, an expression that explodes does not.
    expect(Math.min(...times), name).toBeLessThan(100);
  }
});

test("a client that a backend did not describe gives no reason, one that is a program does", () => {
  expect(signalsOf(postOf(genuine, { client: null }))).toEqual([]);
  const passedOn = { ...client, userAgent: undefined, acceptLanguage: undefined };
  expect(signalsOf(postOf(genuine, { client: passedOn }))).toEqual([]);
  expect(
    signalsOf(postOf(genuine, { client: { ...client, userAgent: "curl/8.1", acceptLanguage: null } })),
  ).toEqual(["user-agent", "accept-language"]);
});

test("words that read like genuine mail outweigh a link, and nothing else", () => {
  const message = `${genuine.message} We are at the camp near the lake: https://bit.ly/3camp`;
  const { score, reasons } = verdictOf(postOf({ message }));
  expect(reasons.map(({ signal, points }) => [signal, Math.sign(points)])).toEqual([
    ["link-shortener", 1],
    ["link-edge", 1],
    ["link-short", 1],
    ["text", -1],
    ["scale", 1],
  ]);
  expect(reasons.at(3)?.detail).toBe("reads like genuine mail");
  expect(score).toBeLessThan(26);
  const quick = verdictOf(postOf({ message }, { elapsedMs: 400 }));
  expect(quick.reasons.at(-1)).toMatchObject({ signal: "fill-time", points: 30 });
  expect(quick.score).toBe(score + 30);
});
