import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { COST_OF_A_CHANGE, VisitSlots } from "../../src/dashboard/visit-slots.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";

const BURST = 60;
const UNDER_WAY = 32;
const WAITING = 32;
const INTERVAL_MS = 100;
const LONGEST_WAIT_MS = 10_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Some requests of one visitor, with what became of each. */
function ask(places: VisitSlots, name: string, count: number, gone = new AbortController().signal) {
  const left: (() => void)[] = [];
  const refused: unknown[] = [];
  for (let index = 0; index < count; index += 1)
    void places.enter(name, gone).then(
      (leave) => left.push(leave),
      (error: unknown) => refused.push(error),
    );
  return { inside: left, refused };
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

/** Requests that are answered at once, one after the other. */
async function askInTurn(places: VisitSlots, name: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { inside } = ask(places, name, 1);
    await pass(0);
    inside[0]?.();
  }
}

test("a visitor has 32 requests answered at once, 32 more wait, and further ones are refused with a sentence", async () => {
  const places = new VisitSlots();
  const { inside, refused } = ask(places, "ada", UNDER_WAY + WAITING + 3);
  await pass(0);
  expect([inside.length, refused.length]).toEqual([UNDER_WAY, 3]);
  expect(refused[0]).toBeInstanceOf(FormsvcError);
  expect(refused[0]).toMatchObject({
    code: "rate_limited",
    message: expect.stringContaining("Too many pages were asked for at once") as string,
    facts: { retryAfterSeconds: 5 },
  });
  inside[0]?.();
  // Giving a place back twice gives back one.
  inside[0]?.();
  await pass(0);
  expect(inside.length).toBe(UNDER_WAY + 1);
});

test("what one visitor has under way keeps no other one waiting", async () => {
  const places = new VisitSlots();
  ask(places, "ada", UNDER_WAY + WAITING);
  const other = ask(places, "ben", 6);
  await pass(0);
  expect(other.inside.length).toBe(6);
});

test("after 60 requests at once one follows the other, ten a second, and nobody who rests is slowed down", async () => {
  const places = new VisitSlots();
  await askInTurn(places, "ada", BURST);
  const slowed = ask(places, "ada", 20);
  await pass(INTERVAL_MS - 1);
  expect(slowed.inside.length).toBe(0);
  await pass(1);
  expect(slowed.inside.length).toBe(1);
  await pass(10 * INTERVAL_MS);
  expect(slowed.inside.length).toBe(11);
  await pass(20 * INTERVAL_MS);
  expect([slowed.inside.length, slowed.refused.length]).toEqual([20, 0]);
  for (const leave of slowed.inside) leave();
  await pass(BURST * INTERVAL_MS);
  const rested = ask(places, "ada", UNDER_WAY);
  await pass(0);
  expect(rested.inside.length).toBe(UNDER_WAY);
});

test("a request that changes something takes three turns, so 20 of them are answered at once and then one in 300 ms", async () => {
  const places = new VisitSlots();
  const press = () => {
    let isInside = false;
    const enter = async (): Promise<void> => {
      const leave = await places.enter("ada", new AbortController().signal, COST_OF_A_CHANGE);
      isInside = true;
      leave();
    };
    void enter();
    return () => isInside;
  };
  for (let index = 0; index < BURST / 3; index += 1) {
    const isInside = press();
    await pass(0);
    expect(isInside()).toBe(true);
  }
  const [first, second] = [press(), press()];
  await pass(INTERVAL_MS);
  expect([first(), second()]).toEqual([true, false]);
  await pass(3 * INTERVAL_MS - 1);
  expect(second()).toBe(false);
  await pass(1);
  expect(second()).toBe(true);
});

test("whoever hangs up while waiting leaves the line, and whoever waits for too long is told", async () => {
  const places = new VisitSlots();
  const first = ask(places, "ada", UNDER_WAY);
  await pass(0);
  const gone = new AbortController();
  const left = ask(places, "ada", 1, gone.signal);
  const late = ask(places, "ada", 1);
  gone.abort(new FormsvcError("request_timeout"));
  await pass(0);
  expect(left.refused).toMatchObject([{ code: "request_timeout" }]);
  await pass(LONGEST_WAIT_MS);
  expect(late.refused).toMatchObject([{ code: "rate_limited" }]);
  for (const leave of first.inside) leave();
  const next = ask(places, "ada", 1);
  await pass(0);
  expect([next.inside.length, left.inside.length, late.inside.length]).toEqual([1, 0, 0]);
});

test("no timer is left when nothing is under way", async () => {
  const places = new VisitSlots();
  await askInTurn(places, "ada", BURST);
  const gone = new AbortController();
  ask(places, "ada", 2, gone.signal);
  gone.abort(new FormsvcError("request_timeout"));
  await pass(0);
  expect(vi.getTimerCount()).toBe(0);
});
