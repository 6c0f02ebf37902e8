import { expect, test } from "vitest";
import { scoreSpam } from "../../src/spam/score-spam.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import {
  applyChoices,
  defaultSpamSettings,
  parseSpamChoices,
  replaceChoices,
} from "../../src/spam/spam-settings.ts";
import { client, postOf } from "./posts.ts";

const fields = {
  name: "Ana Ruiz",
  email: "ana@mail.example.org",
  message: "Are you open on Sunday? Order KX-12.",
};

function scoreWith(choices: object, message = fields.message): number {
  const settings = applyChoices(defaultSpamSettings(3), parseSpamChoices(JSON.stringify(choices), "test"));
  return scoreSpam(postOf({ ...fields, message }), settings, noHistory).score;
}

test.each([
  ["a keyword's points", { keywords: [{ word: "sunday", effect: 30 }] }, 30],
  ["a keyword inside another word", { keywords: [{ word: "sun", effect: 30 }] }, 0],
  ["a phrase across punctuation", { keywords: [{ word: "on sunday order", effect: 30 }] }, 30],
  ["a blocking keyword", { keywords: [{ word: "sunday", effect: "block" }] }, 100],
  ["a rule's points on a field", { rules: [{ field: "message", pattern: "^are you", effect: 40 }] }, 40],
  ["a rule on another field", { rules: [{ field: "name", pattern: "^are you", effect: 40 }] }, 0],
  ["a rule on any field", { rules: [{ pattern: "kx-\\d+", effect: "block" }] }, 100],
  [
    "an allowing rule over a blocking keyword",
    { keywords: [{ word: "open", effect: "block" }], rules: [{ pattern: "KX", effect: "allow" }] },
    0,
  ],
  ["a denied network", { deny: { addresses: ["192.0.2.0/24"] } }, 100],
  ["a denied e-mail address", { deny: { emails: ["ANA@mail.example.org"] } }, 100],
  ["a denied domain above the sender's", { deny: { domains: ["example.org"] } }, 100],
  ["a denied domain that only ends the same", { deny: { domains: ["ample.org"] } }, 0],
  [
    "an allowed sender over a denied network",
    { allow: { emails: ["ana@mail.example.org"] }, deny: { addresses: [client.ipAddress] } },
    0,
  ],
])("%s has its effect", (_, choices, score) => {
  expect(scoreWith(choices)).toBe(score);
});

test("a keyword in a script without spaces is found inside a sentence", () => {
  expect(scoreWith({ keywords: [{ word: "星期天", effect: "block" }] }, "请问星期天几点开门")).toBe(100);
});

test("an owner's points do not block alone, but do if there is other evidence too", () => {
  const rules = [{ pattern: "sunday", effect: 90 }];
  expect(scoreWith({ rules })).toBe(75);
  expect(scoreWith({ rules }, "sunday https://bit.ly/x")).toBe(100);
});

test("a change replaces what it names, and a keyword its own word; the rest stays", () => {
  const before = {
    maxLinks: 1,
    technical: true,
    keywords: [
      { word: "a", effect: 1 },
      { word: "b", effect: 2 },
    ],
  };
  expect(replaceChoices(before, { maxLinks: 0 })).toEqual({ ...before, maxLinks: 0 });
  expect(replaceChoices(before, { keywords: [{ word: "a", effect: "block" }] })).toEqual({
    ...before,
    keywords: [
      { word: "b", effect: 2 },
      { word: "a", effect: "block" },
    ],
  });
});

test("an endpoint's single values replace its workspace's, and lists are joined", () => {
  const workspace = applyChoices(defaultSpamSettings(3), {
    maxLinks: 1,
    keywords: [{ word: "a", effect: 1 }],
  });
  const endpoint = applyChoices(workspace, { maxLinks: 9, keywords: [{ word: "b", effect: 2 }] });
  expect(endpoint.maxLinks).toBe(9);
  expect(endpoint.keywords.map(({ word }) => word)).toEqual(["a", "b"]);
});

test("every mistake in a settings file is named with its line and path", () => {
  const json = `{
  "maxLinks": -1,
  "keywords": [
    { "word": "ok", "effect": 10 },
    { "word": "bad", "effect": "delete" }
  ],
  "rules": [{ "pattern": "(?=x)", "effect": 5 }],
  "deny": { "addresses": ["10.0.0.0/99"] },
  "colour": true
}`;
  const lines = messageOf(() => parseSpamChoices(json, "rules.json")).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^rules\.json:2: maxLinks: /),
      expect.stringMatching(/^rules\.json:5: keywords\.1\.effect: expected points or "block"/),
      expect.stringMatching(/^rules\.json:7: rules\.0\.pattern: uses lookahead/),
      expect.stringMatching(/^rules\.json:8: deny\.addresses\.0: expected an IP address/),
      expect.stringMatching(/^rules\.json:9: colour: Unrecognized key: "colour"/),
    ]),
  );
});

test("a settings file that is not JSON is refused with the line of the error", () => {
  expect(messageOf(() => parseSpamChoices('{\n  "maxLinks": 3,\n}', "s.json"))).toMatch(
    /^s\.json:3: not valid JSON/,
  );
});

test("patterns that would be slow together are refused", () => {
  const rules = Array.from({ length: 20 }, () => ({ pattern: "(?:[a-z]{20} ){5}", effect: 1 }));
  expect(messageOf(() => parseSpamChoices(JSON.stringify({ rules }), "s.json"))).toContain(
    "too large together",
  );
});

test("a hundred rules of the largest patterns are refused without being compiled", () => {
  const read = (pattern: string): string =>
    messageOf(() =>
      parseSpamChoices(
        JSON.stringify({ rules: Array.from({ length: 100 }, () => ({ pattern, effect: 1 })) }),
        "s.json",
      ),
    );
  expect(read("\\pL".repeat(160))).toContain("too large together");
  // Compiling would find that this is no pattern.
  expect(read(`(${"\\pL".repeat(160)}`)).toContain("too large together");
  expect(read(`(?:${"a".repeat(490)}){1000}`)).toContain("repetition counts written out");
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing was refused";
}
