import { describe, expect, test } from "vitest";
import { createRateLimiter } from "../../src/foundation/rate-limit.ts";

describe("fixed windows", () => {
  const limit = { max: 3, windowSeconds: 60 };

  test("take as many requests as they allow, then none until the window that the first one began has ended", () => {
    let now = 1000;
    const limiter = createRateLimiter(() => now);
    const states = Array.from({ length: 4 }, () => limiter.count("a", limit));
    expect(states.map((state) => [state?.allowed, state?.remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    now += 59_001;
    expect(limiter.count("a", limit)).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 1 });
    now += 999;
    expect(limiter.count("a", limit)).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
  });

  test("count a request that is given back as never made", () => {
    const limiter = createRateLimiter(() => 0);
    const once = { max: 1, windowSeconds: 1 };
    limiter.count("a", once);
    for (const unit of ["a", "a", "b"]) limiter.giveBack(unit);
    expect(["a", "a"].map((unit) => limiter.count(unit, once)?.allowed)).toEqual([true, false]);
  });

  test("count each unit by itself", () => {
    const limiter = createRateLimiter(() => 0);
    const once = { max: 1, windowSeconds: 1 };
    expect(["a", "b", "a"].map((unit) => limiter.count(unit, once)?.allowed)).toEqual([true, true, false]);
  });

  test("are off if the limit is null", () => {
    expect(createRateLimiter().count("a", { max: null, windowSeconds: 1 })).toBeNull();
  });

  test("can be looked at without counting, before, during and after a window", () => {
    let now = 0;
    const limiter = createRateLimiter(() => now);
    const fresh = { allowed: true, limit: 3, remaining: 3, resetSeconds: 60 };
    expect([limiter.look("a", limit), limiter.look("a", limit)]).toEqual([fresh, fresh]);
    for (let sent = 0; sent < 3; sent += 1) limiter.count("a", limit);
    now += 59_500;
    expect(limiter.look("a", limit)).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 1 });
    now += 500;
    expect(limiter.look("a", limit)).toEqual(fresh);
    expect(limiter.look("a", { max: null, windowSeconds: 1 })).toBeNull();
  });

  test("are bounded in memory: of too many units the one whose window began first is forgotten", () => {
    const limiter = createRateLimiter(() => 0);
    const once = { max: 1, windowSeconds: 60 };
    for (let unit = 0; unit < 100_000; unit += 1) limiter.count(String(unit), once);
    expect(limiter.count("0", once)?.allowed).toBe(false);
    limiter.count("one more", once);
    expect(limiter.count("1", once)?.allowed).toBe(false);
    expect(limiter.count("0", once)?.allowed).toBe(true);
  });
});
