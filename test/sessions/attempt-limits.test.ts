import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createAttemptLimits } from "../../src/sessions/attempt-limits.ts";

const MINUTE = 60_000;

function bench() {
  let now = 1_000_000;
  const delays: number[] = [];
  const sleep = (ms: number) => {
    delays.push(ms);
    return Promise.resolve();
  };
  const limits = createAttemptLimits(sleep, () => now);
  return { limits, delays, advance: (ms: number) => void (now += ms) };
}

function refusal(work: () => unknown): { code: string; seconds: number } {
  try {
    work();
  } catch (error) {
    const { code, facts } = error as { code: string; facts: { retryAfterSeconds: number } };
    return { code, seconds: facts.retryAfterSeconds };
  }
  throw new Error("it was let through");
}

/** The delay before each attempt of an account that fails every time, from another address each. */
function delaysOf(count: number): number[] {
  const { limits, delays } = bench();
  for (let address = 0; address < count; address += 1) limits.begin(String(address), "ana");
  return delays;
}

describe("an address", () => {
  test("has ten attempts in ten minutes, for whatever account and of whatever kind", () => {
    const { limits, advance } = bench();
    for (let account = 0; account < 6; account += 1) limits.begin("a", String(account));
    for (let count = 0; count < 4; count += 1) limits.count("a");
    expect(refusal(() => limits.begin("a", "other"))).toEqual({ code: "rate_limited", seconds: 600 });
    expect(refusal(() => limits.count("a"))).toEqual({ code: "rate_limited", seconds: 600 });
    limits.count("b");
    advance(10 * MINUTE);
    limits.begin("a", "other");
  });

  test("has no limit for attempts that succeed", () => {
    const { limits } = bench();
    for (let count = 0; count < 30; count += 1) limits.begin("a", "ana").succeeded();
    for (let count = 0; count < 30; count += 1) {
      limits.count("a");
      limits.giveBack("a");
    }
    expect(limits.begin("a", "ana")).toBeDefined();
  });
});

test("names of accounts take little memory, however long they are", () => {
  const { limits } = bench();
  const before = heapInUse();
  for (let count = 0; count < 4000; count += 1) limits.begin(String(count), `${count}`.padEnd(8000, "x"));
  expect(heapInUse() - before).toBeLessThan(16_000_000);
  expect(limits.begin("a", "ana")).toBeDefined();
});

/** After a collection of garbage. */
function heapInUse(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("an account", () => {
  test("lets three attempts fail at once, and then waits twice as long before each, up to 8 seconds", () => {
    expect(delaysOf(11)).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test("is never refused, however many failed at once from however many addresses", async () => {
    const { limits } = bench();
    for (let address = 0; address < 1000; address += 1) await limits.begin(String(address), "ana").turn;
    await expect(limits.begin("hers", "ana").turn).resolves.toBeUndefined();
  });

  test("waits no more after a success, or after an hour without a failure, and others never waited", () => {
    const { limits, delays, advance } = bench();
    for (let address = 0; address < 5; address += 1) limits.begin(String(address), "ana");
    limits.begin("b", "ben");
    limits.begin("c", "ana").succeeded();
    expect(delays).toEqual([250, 500, 1000]);
    for (let address = 10; address < 15; address += 1) limits.begin(String(address), "ana");
    advance(60 * MINUTE);
    limits.begin("d", "ana");
    expect(delays).toEqual([250, 500, 1000, 250, 500]);
  });

  test("waits with at most 99 others", () => {
    const limits = createAttemptLimits(
      () => new Promise(() => undefined),
      () => 0,
    );
    for (let address = 0; address < 103; address += 1) limits.begin(String(address), "ana");
    expect(refusal(() => limits.begin("one more", "ana"))).toEqual({ code: "unavailable", seconds: 1 });
    expect(limits.begin("another", "ben")).toBeDefined();
  });

  test("is forgotten when 10,000 others have failed since", () => {
    const { limits, delays } = bench();
    for (let address = 0; address < 4; address += 1) limits.begin(String(address), "ana");
    for (let account = 0; account < 10_000; account += 1) limits.begin(String(account), String(account));
    limits.begin("last", "ana");
    expect(delays).toEqual([250]);
  });
});

describe("codes", () => {
  test("are refused for a time after five wrong ones, for twice as long after each further one, up to 15 minutes", () => {
    const { limits, advance } = bench();
    for (let count = 0; count < 5; count += 1) limits.countCode("ana");
    const pauses = Array.from({ length: 7 }, () => {
      const { seconds } = refusal(() => limits.countCode("ana"));
      advance(seconds * 1000 - 1);
      expect(refusal(() => limits.countCode("ana"))).toEqual({ code: "rate_limited", seconds: 1 });
      advance(1);
      limits.countCode("ana");
      return seconds;
    });
    expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900]);
    limits.countCode("ben");
  });

  test("start anew after a right one", () => {
    const { limits } = bench();
    for (let count = 0; count < 5; count += 1) limits.countCode("ana");
    limits.codeSucceeded("ana");
    for (let count = 0; count < 5; count += 1) limits.countCode("ana");
    expect(refusal(() => limits.countCode("ana")).code).toBe("rate_limited");
  });
});
