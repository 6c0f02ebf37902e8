import { readdirSync, readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { readPages } from "../../scripts/embed-help.ts";
import { findPage, nearTopics, topicName, topics } from "../../src/manual/manual.ts";
import { pageText } from "../../src/cli/output/page-text.ts";
import type { Block } from "../../src/manual/page.ts";
import { makeMachine } from "../support/operator-machine.ts";

const machine = makeMachine();
afterAll(() => machine.remove());
const docs = new URL("../../docs/", import.meta.url);

const textOf = (...blocks: readonly Block[]): string => pageText({ title: "Title", blocks });

/** Everything but line ends that a terminal could take for more than text. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/;

test("docs lists every page of docs/ with a line of its own, which fits 80 columns", async () => {
  const { stdout } = await machine.mustRun(["docs"]);
  const lines = stdout.trimEnd().split("\n").slice(1);
  const files = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".md"),
  );
  expect(lines.map((line) => line.split(" ")[0])).toEqual(topics.map(({ name }) => name));
  expect(topics.map(({ name }) => name).toSorted()).toEqual(files.map(topicName).toSorted());
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect((await machine.mustRun(["docs", "--json"])).json()).toEqual({ data: topics });
});

test("docs shows a page that is not on a terminal as it is, whichever way its topic is written", async () => {
  const page = findPage("recipes-plain-html");
  const text = page === null ? "" : pageText(page);
  expect(text).toMatch(/^# Plain HTML\n\nThis works on any static host/);
  for (const topic of ["recipes-plain-html", "recipes/plain-html", "docs/recipes/Plain-HTML.md"])
    expect((await machine.mustRun(["docs", topic])).stdout, topic).toBe(text);
  const asJson = await machine.mustRun(["docs", "recipes-plain-html", "--json"]);
  expect(asJson.json()).toEqual({ topic: "recipes-plain-html", title: "Plain HTML", text });
});

test("a topic that is not there ends with exit code 2 and near names, and prints nothing", async () => {
  const cases: [topic: string, message: RegExp][] = [
    ["webhoks", /there is no page “webhoks” in the documentation; is it webhooks\?/],
    ["html", /is it recipes-plain-html or recipes-html-with-script\?/],
    ["nothing-like-it", /formsvc docs lists the pages/],
    ["", /argument 'topic' is empty/],
    ["../../etc/passwd", /there is no page “..\/..\/etc\/passwd”/],
    ["__proto__", /there is no page/],
  ];
  for (const [topic, message] of cases) {
    const ran = await machine.run(["docs", topic]);
    expect({ topic, code: ran.code, stdout: ran.stdout }).toEqual({ topic, code: 2, stdout: "" });
    expect(ran.stderr).toMatch(message);
  }
  const hostile = await machine.run(["docs", "\u001B[31mred"]);
  expect(hostile.code).toBe(2);
  expect(hostile.stderr).not.toMatch(CONTROL);
  expect(nearTopics("SPAM-MODL")).toEqual(["spam-model"]);
});

test("no page has a control character, and only code is wider than 80 columns", () => {
  const pages = readPages();
  expect(pages.length).toBeGreaterThan(30);
  for (const page of pages) {
    const text = pageText(page);
    expect(text, page.name).not.toMatch(CONTROL);
    const wide = text.split("\n").filter((line) => Array.from(line).length > 80 && !line.startsWith("    "));
    // A word that has no space is not broken: a pattern, an address, a name.
    expect(
      wide.filter((line) => /\S \S/.test(line.trim())),
      page.name,
    ).toEqual([]);
  }
});

test("every word of a page is in its text", () => {
  const words = (text: string): string[] => text.match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  for (const [topic, path] of [
    ["webhooks", "webhooks.md"],
    ["guarantees", "guarantees.md"],
    ["spam", "spam.md"],
  ] as const) {
    const page = findPage(topic);
    const shown = new Set(words(page === null ? "" : pageText(page)));
    // Addresses of links and languages of code are not shown.
    const source = readFileSync(new URL(path, docs), "utf8").replaceAll(/\]\([^)]*\)|^```\w+/gm, "");
    expect(words(source).filter((word) => !shown.has(word))).toEqual([]);
  }
});

test("a page is laid out for a terminal: paragraphs, lists, code, tables and links", () => {
  const long = "word ".repeat(30).trim();
  expect(textOf({ paragraph: [`${long} `, { code: "formsvc docs spam" }] })).toBe(
    `# Title\n\n${"word ".repeat(16).trim()}\n${"word ".repeat(14)}\`formsvc docs spam\`\n`.replace(
      "word `formsvc docs spam`",
      "word\n`formsvc docs spam`",
    ),
  );
  expect(textOf({ items: [[{ paragraph: ["one"] }], [{ paragraph: [long] }]], isOrdered: true })).toContain(
    `1. one\n2. ${"word ".repeat(15).trim()}\n   word`,
  );
  expect(textOf({ code: "a\n\n\tb" })).toBe("# Title\n\n    a\n\n        b\n");
  expect(
    textOf({
      head: [["name"], ["meaning"]],
      rows: [
        [["a"], ["one"]],
        [["long"], [""]],
      ],
    }),
  ).toBe("# Title\n\nname  meaning\n----  -------\na     one\nlong\n");
  const wide = "x".repeat(60);
  expect(textOf({ head: [["a"], ["b"], ["c"]], rows: [[[wide], ["two"], [long]]] })).toMatch(
    /^# Title\n\na:\n\nx{60}\n {4}b: two\n {4}c: word/,
  );
  const link = { link: ["the other page"], to: "spam#held-posts" };
  expect(textOf({ paragraph: [link, " and ", { link: ["here"], to: "https://example.com/" }] })).toBe(
    "# Title\n\nthe other page and here <https://example.com/>\n\nSee also: formsvc docs spam\n",
  );
});

test("completion offers the topics behind docs", async () => {
  const { stdout } = await machine.mustRun(["completion", "bash"]);
  expect(stdout).toMatch(/'docs'\) words='recipes [^']*api [^']*webhooks/);
});
