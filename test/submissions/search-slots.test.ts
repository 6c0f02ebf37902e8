import { expect, test, vi } from "vitest";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { type Asker, SearchSlots } from "../../src/submissions/find/search-slots.ts";

const staying = (name: string): Asker => ({ name, gone: new AbortController().signal });

/** A search that goes on until it is told to end. */
function search(places: SearchSlots, asker: Asker) {
  const { promise, resolve } = Promise.withResolvers<string>();
  let hasBegun = false;
  const answer = places.run(asker, () => {
    hasBegun = true;
    return promise;
  });
  answer.catch(() => undefined);
  return { answer, hasBegun: () => hasBegun, end: () => resolve(`found for ${asker.name}`) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("an account has one search at a time, all together have two, and the others go on in the order they came", async () => {
  const places = new SearchSlots();
  const [ada, ada2, ben, cleo, dora] = ["ada", "ada", "ben", "cleo", "dora"].map((name) =>
    search(places, staying(name)),
  ) as [Began, Began, Began, Began, Began];
  type Began = ReturnType<typeof search>;
  const begun = () => [ada, ada2, ben, cleo, dora].map((each) => each.hasBegun());
  await turn();
  expect(begun()).toEqual([true, false, true, false, false]);
  ben.end();
  await turn();
  expect(begun()).toEqual([true, false, true, true, false]);
  ada.end();
  await turn();
  expect(begun()).toEqual([true, true, true, true, false]);
  cleo.end();
  await turn();
  expect(begun()).toEqual([true, true, true, true, true]);
  for (const each of [ada2, dora]) each.end();
  expect(await Promise.all([ada, ada2, ben, cleo, dora].map(({ answer }) => answer))).toEqual(
    ["ada", "ada", "ben", "cleo", "dora"].map((name) => `found for ${name}`),
  );
});

test("of many searches of one account three wait, and the others are told at once; those of another go on", async () => {
  const places = new SearchSlots();
  const own = Array.from({ length: 32 }, () => search(places, staying("ada")));
  const other = search(places, staying("ben"));
  for (const refused of own.slice(4))
    await expect(refused.answer).rejects.toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("another search of yours goes on") as string,
    });
  other.end();
  expect(await other.answer).toBe("found for ben");
  for (const each of own.slice(0, 4)) {
    await vi.waitFor(() => expect(each.hasBegun()).toBe(true));
    each.end();
    await each.answer;
  }
});

test("whoever hangs up while waiting leaves the line, and whoever waits for too long is told", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const places = new SearchSlots();
    const gone = new AbortController();
    const first = search(places, staying("ada"));
    const left = search(places, { name: "ada", gone: gone.signal });
    const late = search(places, staying("ada"));
    const second = search(places, staying("ben"));
    const crowded = search(places, staying("cleo"));
    gone.abort(new FormsvcError("request_timeout"));
    await expect(left.answer).rejects.toMatchObject({ code: "request_timeout" });
    vi.advanceTimersByTime(10_001);
    await expect(late.answer).rejects.toMatchObject({ code: "rate_limited" });
    await expect(crowded.answer).rejects.toMatchObject({ code: "unavailable" });
    first.end();
    second.end();
    await Promise.all([first.answer, second.answer]);
    const next = search(places, staying("ada"));
    next.end();
    expect(await next.answer).toBe("found for ada");
    expect(left.hasBegun() || late.hasBegun()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test("what is given out in parts holds a place only while a part is made", async () => {
  const places = new SearchSlots();
  async function* parts(): AsyncGenerator<number> {
    yield await Promise.resolve(1);
    yield 2;
  }
  const exported = places.runEach(staying("ada"), parts());
  expect((await exported.next()).value).toBe(1);
  // Its reader is slow.
  expect(await places.run(staying("ada"), () => Promise.resolve("found"))).toBe("found");
  expect((await exported.next()).value).toBe(2);
  expect((await exported.next()).done).toBe(true);
});

test("a search that fails gives its place free", async () => {
  const places = new SearchSlots();
  const fail = () => places.run(staying("ada"), () => Promise.reject(new Error("no disk")));
  for (let round = 0; round < 5; round += 1) await expect(fail()).rejects.toThrow("no disk");
});
