import { expect, test } from "vitest";
import { createRememberedKeys } from "../../src/history/remembered-keys.ts";
import { receiving } from "../support/receiving.ts";

const readKeys = (_workspaceId: string, keys: string): number[] => JSON.parse(keys) as number[];
/** Spread over 52 bits, as the keys of texts are. */
const keyOf = (number: number): number => (number * 2_654_435_761 * 97) % 2 ** 52;

async function storing() {
  const { db, workspaceId } = await receiving();
  const store = (from: number, to: number): void => {
    const insert = db.prepare(
      `INSERT INTO remembered_text (workspace_id, keys, sketch, senders) VALUES (?, ?, x'', '[]')`,
    );
    db.transactionNow(() => {
      for (let number = from; number < to; number += 1)
        insert.run(workspaceId, JSON.stringify([keyOf(number)]));
    });
  };
  return { db, store };
}

test("a key that is stored or added is never denied, and one that is neither nearly always is", async () => {
  const { db, store } = await storing();
  store(0, 1000);
  const keys = createRememberedKeys(readKeys);
  expect(db.now(() => keys.mayHold([keyOf(999)]))).toBe(true);
  for (let number = 0; number < 1000; number += 1)
    expect(db.now(() => keys.mayHold([keyOf(number)]))).toBe(true);
  keys.add([keyOf(5000)]);
  expect(db.now(() => keys.mayHold([keyOf(6000), keyOf(5000)]))).toBe(true);
  const mistaken = Array.from({ length: 1000 }, (_, index) => keyOf(10_000 + index)).filter((key) =>
    db.now(() => keys.mayHold([key])),
  );
  expect(mistaken.length).toBeLessThan(20);
});

test("what another process stores is known after catching up", async () => {
  const { db, store } = await storing();
  const keys = createRememberedKeys(readKeys);
  expect(db.now(() => keys.mayHold([keyOf(1)]))).toBe(false);
  store(1, 600);
  expect(db.now(() => keys.mayHold([keyOf(1)]))).toBe(false);
  keys.catchUp();
  for (let number = 1; number < 600; number += 1)
    expect(db.now(() => keys.mayHold([keyOf(number)]))).toBe(true);
});

test("a text that another server committed late is known after catching up with an overlap", async () => {
  const { db, store } = await storing();
  store(0, 300);
  const keys = createRememberedKeys(readKeys);
  for (let number = 0; number < 3; number += 1) db.now(() => keys.mayHold([keyOf(number)]));
  db.execute(`UPDATE remembered_text SET keys = '[${keyOf(7000)}]' WHERE id = 200`);
  keys.catchUp();
  expect(db.now(() => keys.mayHold([keyOf(7000)]))).toBe(false);
  keys.catchUp(150);
  expect(db.now(() => keys.mayHold([keyOf(7000)]))).toBe(true);
});

test("what was read before another process added something does not count as all there is", async () => {
  const { db, store } = await storing();
  const keys = createRememberedKeys(readKeys);
  const reading = keys.mayHold([keyOf(1)]);
  reading.next();
  store(1, 2);
  keys.catchUp();
  // The answer to the first question comes only now.
  reading.next([]);
  expect(db.now(() => keys.mayHold([keyOf(1)]))).toBe(true);
});

test("when it holds far more than is stored it begins anew, and still denies nothing that is stored", async () => {
  const { db, store } = await storing();
  store(0, 300);
  const keys = createRememberedKeys(readKeys);
  for (let number = 0; number < 10; number += 1) db.now(() => keys.mayHold([keyOf(number)]));
  keys.add(Array.from({ length: 250_000 }, (_, index) => keyOf(1000 + index)));
  for (let number = 0; number < 300; number += 1)
    expect(db.now(() => keys.mayHold([keyOf(number)]))).toBe(true);
  expect(db.now(() => keys.mayHold([keyOf(1000)]))).toBe(false);
});
