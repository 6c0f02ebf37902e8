import { expect, test } from "vitest";
import { andThen, orElse } from "../../src/foundation/maybe-later.ts";

const double = (value: number): number => 2 * value;
const words = (error: unknown): string => `failed: ${String(error)}`;

test("what follows from a value that is here is there at once, and else it comes", async () => {
  expect(andThen(2, double)).toBe(4);
  const later = andThen(Promise.resolve(2), double);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(4);
});

test("an error that is thrown is answered at once, and one that comes later", async () => {
  const thrown = orElse(() => {
    throw new TypeError("no");
  }, words);
  expect(thrown).toBe("failed: TypeError: no");
  expect(await orElse(() => Promise.reject(new TypeError("no")), words)).toBe("failed: TypeError: no");
});

test("a result without an error stays as it is", async () => {
  expect(orElse(() => "well", words)).toBe("well");
  expect(await orElse(() => Promise.resolve("well"), words)).toBe("well");
});

test("what follows may fail too, and is answered like the work itself", async () => {
  const fail = (): never => {
    throw new RangeError("late");
  };
  expect(await orElse(() => andThen(Promise.resolve(1), fail), words)).toBe("failed: RangeError: late");
  expect(orElse(() => andThen(1, fail), words)).toBe("failed: RangeError: late");
});
