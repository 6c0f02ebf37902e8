import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createAttemptLimits, type Trier } from "../../src/sessions/attempt-limits.ts";
import { MINUTE_MS } from "../../src/foundation/time-units.ts";

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

/** A stranger. */
function from(address: string): Trier {
  return { address, known: null };
}

const CROWDED = { code: "unavailable", facts: { retryAfterSeconds: 1 } };

/** Delays that never end, unless they are cut short. */
function sleepingLimits() {
  const sleep = (_ms: number, signal: AbortSignal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  return createAttemptLimits(sleep, () => 0);
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
  for (let address = 0; address < count; address += 1) limits.begin(from(String(address)), "ana");
  return delays;
}

describe("an address", () => {
  test("has ten attempts in ten minutes, for whatever account and of whatever kind", () => {
    const { limits, advance } = bench();
    for (let account = 0; account < 6; account += 1) limits.begin(from("a"), String(account));
    for (let count = 0; count < 4; count += 1) limits.count(from("a"));
    expect(refusal(() => limits.begin(from("a"), "other"))).toEqual({ code: "rate_limited", seconds: 600 });
    expect(refusal(() => limits.count(from("a")))).toEqual({ code: "rate_limited", seconds: 600 });
    limits.count(from("b"));
    advance(10 * MINUTE_MS);
    limits.begin(from("a"), "other");
  });

  test("has no limit for attempts that succeed", () => {
    const { limits } = bench();
    for (let count = 0; count < 30; count += 1) limits.begin(from("a"), "ana").succeeded();
    for (let count = 0; count < 30; count += 1) {
      limits.count(from("a"));
      limits.giveBack(from("a"));
    }
    expect(limits.begin(from("a"), "ana")).toBeDefined();
  });
});

test("names of accounts take little memory, however long they are", () => {
  const { limits } = bench();
  const before = heapInUse();
  for (let count = 0; count < 4000; count += 1)
    limits.begin(from(String(count)), `${count}`.padEnd(8000, "x"));
  expect(heapInUse() - before).toBeLessThan(16_000_000);
  expect(limits.begin(from("a"), "ana")).toBeDefined();
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
    for (let address = 0; address < 1000; address += 1)
      await limits.begin(from(String(address)), "ana").admitted;
    await expect(limits.begin(from("hers"), "ana").admitted).resolves.toBeUndefined();
  });

  test("waits no more after a success, or after an hour without a failure, and others never waited", () => {
    const { limits, delays, advance } = bench();
    for (let address = 0; address < 5; address += 1) limits.begin(from(String(address)), "ana");
    limits.begin(from("b"), "ben");
    limits.begin(from("c"), "ana").succeeded();
    expect(delays).toEqual([250, 500, 1000]);
    for (let address = 10; address < 15; address += 1) limits.begin(from(String(address)), "ana");
    advance(60 * MINUTE_MS);
    limits.begin(from("d"), "ana");
    expect(delays).toEqual([250, 500, 1000, 250, 500]);
  });

  test("waits with at most 99 others of one network, which gives places up for other networks", async () => {
    const limits = sleepingLimits();
    const turns = Array.from(
      { length: 103 },
      (_, host) => limits.begin(from(`2001:db8:9:${host}::1`), "ana").admitted,
    );
    await expect(limits.begin(from("2001:db8:9:ffff::1"), "ana").admitted).rejects.toMatchObject(CROWDED);
    const hers = limits.begin(from("2001:db8:a::1"), "ana").admitted;
    // The newest of the network with most gives way.
    await expect(turns[102]).rejects.toMatchObject(CROWDED);
    for (const waiting of [hers, turns[101]])
      expect(await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, "waits"))])).toBe(
        "waits",
      );
  });

  test("gives way only to a network with fewer waiting: each of 100 networks keeps its place", async () => {
    const limits = sleepingLimits();
    for (let host = 0; host < 103; host += 1) limits.begin(from(`203.0.${host}.1`), "ana");
    await expect(limits.begin(from("198.51.100.1"), "ana").admitted).rejects.toMatchObject(CROWDED);
    expect(limits.begin(from("198.51.100.2"), "ben")).toBeDefined();
  });

  test("makes nobody wait whom it knows, whatever strangers do, also from that address", async () => {
    const { limits, delays } = bench();
    for (let count = 0; count < 10; count += 1) limits.begin(from("192.0.2.1"), "ana");
    for (let host = 0; host < 90; host += 1) limits.begin(from(`198.51.${host}.1`), "ana");
    const before = delays.length;
    expect(refusal(() => limits.begin(from("192.0.2.1"), "ana")).code).toBe("rate_limited");
    await limits.begin({ address: "192.0.2.1", known: { accountId: "acct_1", by: "device 1" } }, "ana")
      .admitted;
    expect(delays).toHaveLength(before);
  });

  test("counts the failures of somebody whom it knows by themselves, with the same delays and limit", () => {
    const { limits, delays } = bench();
    const known: Trier = { address: "192.0.2.1", known: { accountId: "acct_1", by: "device 1" } };
    for (let count = 0; count < 10; count += 1) limits.begin(known, "ana");
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000]);
    expect(refusal(() => limits.begin(known, "ana"))).toEqual({ code: "rate_limited", seconds: 600 });
    limits.begin({ ...known, known: { accountId: "acct_1", by: "device 2" } }, "ana");
    limits.begin({ ...known, known: { accountId: "acct_2", by: "device 1" } }, "ben");
    expect(delays).toHaveLength(7);
  });

  test("is forgotten when 10,000 others have failed since", () => {
    const { limits, delays } = bench();
    for (let address = 0; address < 4; address += 1) limits.begin(from(String(address)), "ana");
    for (let account = 0; account < 10_000; account += 1)
      limits.begin(from(String(account)), String(account));
    limits.begin(from("last"), "ana");
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
