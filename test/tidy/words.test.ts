import { expect, test } from "vitest";
import { listFiles, readText } from "./repository.ts";
import { findGivenUp, findSharedNames } from "./words.ts";

const files = listFiles().map(readText);
const sources = files.filter(({ path }) => /^src\/.*(?<!\.generated)\.ts$/.test(path));

const plant = (path: string, text: string) => ({ path, text });

test("no page, comment or message uses a word that was given up", () => {
  expect(files.length).toBeGreaterThan(500);
  expect(files.flatMap(findGivenUp)).toEqual([]);
  for (const caught of [
    plant("src/a.ts", "/** Texts are counted once in so many. */"),
    plant("docs/a.md", "Null where there is none."),
    plant("src/a.ts", "  /** Most connections at a time. */"),
    plant("src/a.ts", "/** Those of one transaction. */"),
    plant("test/a.ts", "  /** When. */"),
    plant("docs/a.md", "the event `signed_in`"),
    plant("src/a.ts", 'event: "webhook.recovered"'),
    plant("src/a.ts", "export class SearchPlaces {"),
    plant("src/a.ts", "  const turns = new Turns();"),
    plant("src/a.ts", "export function* tellOperator("),
    plant("src/a.ts", "const MAX_TOLD = 5;"),
    plant("src/a.ts", "  async #tellOthers(): Promise<void> {"),
    plant("src/a.ts", "  const place = positionOf(row);"),
    plant("src/a.ts", "function judge(post: SpamPost): Verdict {"),
    plant("src/outbox/a.ts", "/** The carrier of the transport. */"),
    plant("src/spam/a.ts", "/** Lays turns on paths of units. */"),
  ])
    expect(findGivenUp(caught), caught.text).toHaveLength(1);
  for (const passed of [
    plant("docs/a.md", 'say the number by its name, not "so many"'),
    plant("src/a.ts", 'query.selectFrom("held").where("id", "=", id); // the folder where it lies'),
    plant("scripts/spam/texts/a.txt", "We get so many requests"),
    plant("src/a.ts", "// Most posts need no more."),
    plant("src/a.ts", "/** When it was turned on; null while it is off. */"),
    plant("src/a.ts", "export function moveIntoPlace(file: string, target: string): void {"),
    plant("src/a.ts", "// In the next turn of the event loop, two addresses are told apart."),
    plant("src/a.ts", "function* turnOn("),
  ])
    expect(findGivenUp(passed), passed.text).toEqual([]);
});

test("an exported type has a name of its own: one word, one meaning", () => {
  expect(sources.length).toBeGreaterThan(500);
  expect([...findSharedNames(sources)]).toEqual([]);
  const planted = [
    plant("src/a/a.ts", "export interface Place {"),
    plant("src/b/b.ts", "export type Place = 1;"),
  ];
  expect(findSharedNames(planted)).toEqual(new Map([["Place", ["src/a/a.ts", "src/b/b.ts"]]]));
});
