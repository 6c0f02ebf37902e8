import { expect, test } from "vitest";
import { checkSpamForm, readSpamForm, spamForm, type TypedSpam } from "../../src/dashboard/spam/spam-form.ts";
import { parseSpamChoices, type SpamChoices } from "../../src/spam/spam-settings.ts";

const NOTHING: TypedSpam = { maxLinks: "", technical: "", keywords: "", allow: "", deny: "", rules: "" };
const NOBODY = { emails: [], domains: [], addresses: [] };

const CHOICES: readonly SpamChoices[] = [
  {},
  { maxLinks: 0, technical: false },
  {
    maxLinks: 1000,
    technical: true,
    keywords: [
      { word: "casino", effect: 40 },
      { word: "a = b", effect: "block" },
      { word: "two\nlines", effect: -5 },
      { word: '"quoted" = 3', effect: 0 },
      { word: "<script>\u202e", effect: 25 },
    ],
    allow: { emails: ["ada@example.com"], domains: ["example.org"], addresses: ["203.0.113.0/24", "::1"] },
    deny: { ...NOBODY, domains: ["spam.example"] },
    rules: [
      { field: null, pattern: "^x{2}$", effect: "allow" },
      { field: "a", pattern: "b\nc", effect: -3 },
    ],
  },
];

test.for(CHOICES)("choices come back from the form as they were: %j", (choices) => {
  const stored = parseSpamChoices(JSON.stringify(choices), "");
  expect(checkSpamForm(spamForm(stored))).toEqual({ choices: stored });
});

test("each problem is told at its input, with the line that it is about", () => {
  const checked = checkSpamForm({
    maxLinks: "many",
    technical: "on",
    keywords: "good\nbad = much",
    allow: "ada@\nexample.com",
    deny: "300.1.1.1/99\n<script>",
    rules: '[{"pattern": "("}]',
  });
  expect(checked.choices).toBeNull();
  const problems = checked.choices === null ? Object.fromEntries(checked.problems) : {};
  expect(Object.keys(problems).toSorted()).toEqual(["allow", "deny", "keywords", "maxLinks", "rules"]);
  expect(problems["keywords"]).toContain("“bad = much”");
  expect(problems["allow"]).toContain("“ada@”: expected an e-mail address");
  expect(problems["deny"]).toContain("“<script>”: expected a domain");
  expect(problems["maxLinks"]).toBe("Expected a whole number from 0 to 1000.");
});

test("rules that are no JSON are named as that", () => {
  const checked = checkSpamForm({ ...NOTHING, rules: "[" });
  expect(checked.choices === null && checked.problems.get("rules")).toMatch(/^Must be JSON: /);
  const noRules = checkSpamForm({ ...NOTHING, maxLinks: "-1", rules: "[7]" });
  expect(noRules.choices === null && Object.fromEntries(noRules.problems)).toEqual({
    maxLinks: "Expected a whole number from 0 to 1000.",
    rules: "Expected a rule with a pattern and an effect.",
  });
});

test("an empty form chooses nothing", () => {
  expect(checkSpamForm(readSpamForm(new URLSearchParams()))).toEqual({ choices: {} });
});
