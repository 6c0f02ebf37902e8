import { expect, test } from "vitest";
import { judge, spamClassOf, type SpamPost } from "../../src/spam/judge.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";

const settings = defaultSpamSettings(3);
const client = {
  ipAddress: "192.0.2.7",
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
  acceptLanguage: "en",
};

function post(fields: Record<string, unknown>, more: Partial<SpamPost> = {}): SpamPost {
  return { fields, honeypots: [], elapsedMs: 45_000, client, ...more };
}

test("classes change exactly at 26, 51 and 76", () => {
  const classes = [0, 25, 26, 50, 51, 75, 76, 100].map((score) => spamClassOf(score));
  expect(classes).toEqual(["low", "low", "medium", "medium", "high", "high", "blocked", "blocked"]);
});

test("an ordinary message scores 0 without a reason", () => {
  const fields = {
    name: "Ana Ruiz",
    email: "ana@example.org",
    message: "Are you open on Sunday? We are four people.",
  };
  expect(judge(post(fields), settings, noHistory)).toEqual({ score: 0, spamClass: "low", reasons: [] });
});

test("a filled honeypot blocks by itself, and the reasons add up", () => {
  const verdict = judge(
    post({ message: "hello there" }, { honeypots: [{ name: "_gotcha", value: "x" }] }),
    settings,
    noHistory,
  );
  expect(verdict.spamClass).toBe("blocked");
  expect(verdict.reasons.reduce((sum, reason) => sum + reason.points, 0)).toBe(verdict.score);
});

test("a honeypot that repeats the person's own value only marks the post", () => {
  const fields = { name: "Ana Ruiz", email: "ana@example.org", message: "Are you open on Sunday?" };
  const verdict = judge(
    post(fields, { honeypots: [{ name: "_honey", value: "Ana@Example.org " }] }),
    settings,
    noHistory,
  );
  expect(verdict.spamClass).toBe("medium");
});

test("more links than the limit cost points and the limit's number do not", () => {
  const links = (count: number) =>
    Array.from({ length: count }, (_, index) => `the page on rivers https://site${index}.example/a`).join(
      " and ",
    );
  const signals = (count: number) =>
    judge(post({ message: links(count) }), settings, noHistory).reasons.map((reason) => reason.signal);
  expect(signals(3)).not.toContain("links-many");
  expect(signals(4)).toContain("links-many");
});

test("one kind of evidence alone never blocks", () => {
  const verdict = judge(post({ message: "<script>alert(1)</script> ../../etc/passwd" }), settings, noHistory);
  expect(verdict.score).toBeLessThan(76);
});
