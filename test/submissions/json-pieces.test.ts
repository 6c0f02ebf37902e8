import { expect, test } from "vitest";
import { importTable } from "../../src/submissions/import/import-table.ts";
import { importSubmissions } from "../../src/submissions/import/import-submissions.ts";
import { findListIn, hasMoreMembers, piecesOf } from "../../src/submissions/import/json-pieces.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";

const MIB = 1_048_576;
const MOST = 22_000;

async function itemsOf(json: string, most = MOST): Promise<unknown[]> {
  const items: unknown[] = [];
  const pieces = piecesOf(json, json.indexOf("[") + 1, most);
  for await (const some of pieces.items) items.push(...some);
  expect(json.slice(pieces.end())).toBe("");
  return items;
}

test("a list that is parsed in pieces has the items that it has as a whole", async () => {
  const item = { 'a]"[\\': ["}", { b: '",\\"' }], c: [[], {}, 1e3, null], "": "\\" };
  const list = Array.from({ length: 5000 }, (_, n) => (n % 3 === 0 ? item : n % 3 === 1 ? n : "[,]"));
  for (const whole of [list, [], [1], [[]], [{}], list.slice(0, 2), [list.slice(0, 900)]]) {
    expect(await itemsOf(JSON.stringify(whole))).toEqual(whole);
    expect(await itemsOf(JSON.stringify(whole, null, 2))).toEqual(whole);
  }
});

test("what is no list is refused, also between two pieces", async () => {
  const many = "0,".repeat(7999);
  for (const json of [
    "[",
    "[1",
    "[1,",
    "[,]",
    "[1,]",
    "[,1]",
    "[1,,2]",
    '["',
    "[}",
    `[${many}0,]`,
    `[${many}0,,1]`,
    "[1 2]",
  ])
    await expect(itemsOf(json), json.slice(-9)).rejects.toThrow(SyntaxError);
  expect(await itemsOf(`[${many}0]`)).toHaveLength(8000);
  expect(await itemsOf(`[${many}0,1]`)).toHaveLength(8001);
  await expect(itemsOf(`[0,${"[".repeat(40_000)}`)).rejects.toThrow(RangeError);
});

test("members are counted outside of texts", () => {
  expect([hasMoreMembers('{"a":[{}]}', 4), hasMoreMembers('{"a":[{}]}', 3)]).toEqual([false, true]);
  expect(hasMoreMembers(JSON.stringify(['[{:"\\'.repeat(100)]), 1)).toBe(false);
});

test("the list of an object is that of its last member with the name", () => {
  const at = (json: string): string | null => {
    const found = findListIn(json, "rows");
    return found === null ? null : json.slice(found);
  };
  expect(at('{"rows":[1],"b":"rows","rows" : [2]}')).toBe("2]}");
  expect(at('{"a":{"rows":[1]},"b":["rows"],"c":"\\"rows\\":[3]"}')).toBeNull();
  expect(at('{"rows":{"rows":[1]}}')).toBeNull();
});

/** JSON that takes longest to parse, of nearly 4 MiB. */
function objects(): string {
  const parts: string[] = [];
  for (let length = 0; length < 4 * MIB - 40; length += parts.at(-1)!.length + 1)
    parts.push(`{"${parts.length.toString(36)}":0}`);
  return parts.join(",");
}

const SMALL_OBJECTS = `[${objects()}]`;

/**
 * Runs work three times, and returns the longest time for which nothing else had a turn, in microseconds of processor time: the least of
 * the three, because the engine's threads count too.
 */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  return Math.min(await longestTurnOnce(work), await longestTurnOnce(work), await longestTurnOnce(work));
}

async function longestTurnOnce(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false];
  let before = process.cpuUsage();
  const look = (): void => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, user + system);
    before = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  return longest;
}

test.each<{ what: string; text: string; isTable: boolean; refused: RegExp }>([
  {
    what: "a table of small objects",
    text: SMALL_OBJECTS,
    isTable: true,
    refused: /more than 2000 members/,
  },
  {
    what: "a table of empty objects",
    text: `{"submissions":[${"{},".repeat(1_300_000)}{}]}`,
    isTable: true,
    refused: /no column is named like a field/,
  },
  {
    what: "a row of lists",
    text: `[{},{},${"[".repeat(2_000_000)}`,
    isTable: true,
    refused:
      /one row after row 0 has more than 22000 objects, lists and members; import the file by the command/,
  },
  {
    what: "an object without rows",
    text: `{"a":${SMALL_OBJECTS}}`,
    isTable: true,
    refused: /expected a list of rows/,
  },
  {
    what: "a line of NDJSON",
    text: `{"id":${SMALL_OBJECTS}}\n`,
    isTable: false,
    refused: /line 1 has more than 22000 objects, lists and members; import the file by the command/,
  },
])("$what of 4 MiB holds up nothing else", async ({ text, isTable, refused }) => {
  const db = temporaryDatabase();
  const { endpoint } = (await twoOwners(db)).shop;
  const bytes = () => [Buffer.from(text)];
  const source = { name: "all.json", bytes, longestPieceBytes: 5 * MIB, mostMembers: MOST };
  const bring = () =>
    isTable
      ? performOn(db, importTable, { endpoint, format: "formspree", dry_run: true }, { parts: { source } })
      : performOn(db, importSubmissions, { dry_run: true }, { parts: { source } });
  // In one piece each of them took 130 to 800 ms, and small objects took longest. The least of pieces were 3 to 90 ms.
  const inOnePiece = await longestTurn(async () => JSON.parse(SMALL_OBJECTS) as unknown);
  expect(await longestTurn(() => expect(bring()).rejects.toThrow(refused))).toBeLessThan(inOnePiece / 4);
});
