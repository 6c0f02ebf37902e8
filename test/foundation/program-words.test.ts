import { expect, test } from "vitest";
import { programWords } from "../../src/foundation/program-words.ts";

test("what a program said of a failure names its code once", () => {
  expect(programWords("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9")).toBe(
    "ECONNREFUSED: connect 127.0.0.1:9",
  );
  expect(programWords("ENOTFOUND", "getaddrinfo ENOTFOUND a.example")).toBe(
    "ENOTFOUND: getaddrinfo a.example",
  );
  expect(programWords("EDEADLINE", "no answer in 10 seconds")).toBe("EDEADLINE: no answer in 10 seconds");
});
