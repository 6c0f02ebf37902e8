import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkOrigin, isOriginAllowed } from "../../src/endpoints/allowed-origin.ts";

test.each([
  ["https://example.com", "https://example.com"],
  ["HTTPS://Example.COM/", "https://example.com"],
  ["https://example.com:443", "https://example.com"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["http://[::1]:3000", "http://[::1]:3000"],
  ["https://*.example.com", "https://*.example.com"],
  ["https://*.example.com:8443", "https://*.example.com:8443"],
  ["https://müller.example", "https://xn--mller-kva.example"],
  ["null", "null"],
])("%s is kept as %s", (text, origin) => {
  expect(checkOrigin(text)).toBe(origin);
  expect(checkOrigin(origin)).toBe(origin);
});

test.each([
  "",
  "example.com",
  "//example.com",
  "ftp://example.com",
  "file:///etc",
  "https://",
  "https://example.com/path",
  "https://example.com?x",
  "https://example.com#x",
  "https://user@example.com",
  "https://user:pw@example.com",
  "https://*",
  "https://*.",
  "https://a.*.example.com",
  "https://*.*.example.com",
  "https://ex*mple.com",
  "javascript:alert(1)",
  `https://${"a".repeat(300)}.example`,
])("%j is refused with what an origin looks like", (text) => {
  expect(() => checkOrigin(text)).toThrow(
    expect.objectContaining({
      code: "usage",
      message: expect.stringMatching(/write it like https/) as string,
    }) as Error,
  );
});

describe("an origin is allowed", () => {
  test("from anywhere, if none is listed", () => {
    expect(isOriginAllowed("https://anything.example", [])).toBe(true);
    expect(isOriginAllowed("null", [])).toBe(true);
  });

  test.each([
    ["https://example.com", ["https://example.com"], true],
    ["http://example.com", ["https://example.com"], false],
    ["https://example.com:8443", ["https://example.com"], false],
    ["https://sub.example.com", ["https://example.com"], false],
    ["null", ["https://example.com"], false],
    ["null", ["null"], true],
    ["https://a.example.com", ["https://*.example.com"], true],
    ["https://a.b.example.com", ["https://*.example.com"], true],
    ["https://example.com", ["https://*.example.com"], false],
    ["https://.example.com", ["https://*.example.com"], false],
    ["https://badexample.com", ["https://*.example.com"], false],
    ["http://a.example.com", ["https://*.example.com"], false],
    ["https://a.example.com.evil.example", ["https://*.example.com"], false],
    ["https://evil.example/.example.com", ["https://*.example.com"], false],
    ["https://evil@a.example.com", ["https://*.example.com"], false],
    ["https://a.example.com:8443", ["https://*.example.com:8443"], true],
    ["https://a.example.com", ["https://*.example.com:8443"], false],
  ])("%s among %j: %j", (origin, allowed, expected) => {
    expect(isOriginAllowed(origin, allowed)).toBe(expected);
  });

  test("by a wildcard exactly when its host ends with the domain below a dot", () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 5 }), label, (labels, domain) => {
        const origin = `https://${labels.join(".")}`;
        const expected = labels.length > 2 && labels.slice(-2).join(".") === `${domain}.example`;
        expect(isOriginAllowed(origin, [`https://*.${domain}.example`])).toBe(expected);
        expect(
          isOriginAllowed(`https://${labels.join(".")}.${domain}.example`, [`https://*.${domain}.example`]),
        ).toBe(true);
      }),
    );
  });
});

test("* among other origins is refused with what it means", () => {
  expect(() => checkOrigin("*")).toThrow(/\* allows every origin; give it alone/);
  for (const nothing of ["", " "])
    expect(() => checkOrigin(nothing)).toThrow(/\* alone, which allows every origin/);
});
