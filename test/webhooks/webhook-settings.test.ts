import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseCustomHeaders } from "../../src/webhooks/custom-headers.ts";
import { normalizeWebhookUrl } from "../../src/webhooks/webhook-url.ts";

test("a webhook's URL is kept in one spelling, without its fragment", () => {
  expect(normalizeWebhookUrl("HTTPS://Example.COM")).toBe("https://example.com/");
  expect(normalizeWebhookUrl("http://0x7f.1:8080/a?b=c#d")).toBe("http://127.0.0.1:8080/a?b=c");
  expect(normalizeWebhookUrl("https://ｅxample.com/hook")).toBe("https://example.com/hook");
});

test("a URL of another scheme, with credentials, with port 0, too long, or that is none, is refused with the reason", () => {
  const cases: [url: string, reason: RegExp][] = [
    ["", /full address/],
    ["example.com/hook", /full address/],
    ["ftp://example.com/", /must begin with/],
    ["javascript:alert(1)", /must begin with/],
    ["https://user@example.com/", /user name or password/],
    ["https://:pass@example.com/", /user name or password/],
    ["http://example.com:0/", /port 0/],
    [`https://example.com/${"a".repeat(2048)}`, /longer than 2048/],
    [`https://example.com/${"é".repeat(1000)}`, /longer than 2048/],
  ];
  for (const [url, reason] of cases) expect(() => normalizeWebhookUrl(url), url).toThrow(reason);
});

test("custom headers are read by name in lower case", () => {
  expect(parseCustomHeaders(["Authorization: Bearer a:b", "X-Team:  sales "])).toEqual({
    authorization: "Bearer a:b",
    "x-team": "sales",
  });
});

test("headers that are formsvc's own, frame the message or belong to one connection cannot be set", () => {
  const names = [
    "Webhook-Id",
    "webhook-signature",
    "webhook-anything",
    "Host",
    "Content-Length",
    "Content-Type",
  ];
  names.push(
    "Connection",
    "Transfer-Encoding",
    "TE",
    "Upgrade",
    "Keep-Alive",
    "Proxy-Authorization",
    "Trailer",
  );
  names.push("Expect", "User-Agent", "HOST ");
  for (const name of names) expect(() => parseCustomHeaders([`${name}: x`]), name).toThrow(/formsvc's own/);
});

test("no header can hold a line break, a control character or anything else that is not printable ASCII", () => {
  const read = (text: string): string => {
    try {
      return parseCustomHeaders([`x-a: ${text}`])["x-a"] ?? "";
    } catch {
      return "";
    }
  };
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 20 }), (text) => {
      expect(read(text)).toMatch(/^[\x20-\x7e]*$/);
    }),
  );
  for (const line of ["x-a: b\r\nHost: c", "x-a: b\0", "x a: b", "x-a", ": b", "x-ä: b"]) {
    expect(() => parseCustomHeaders([line]), line).toThrow(/header/i);
  }
});

test("a name given twice, too many headers and a value that is too long are refused", () => {
  expect(() => parseCustomHeaders(["A: 1", "a: 2"])).toThrow(/twice/);
  expect(() => parseCustomHeaders(Array.from({ length: 21 }, (_, index) => `x-${index}: 1`))).toThrow(
    /at most 20/,
  );
  expect(() => parseCustomHeaders([`x-a: ${"b".repeat(1025)}`])).toThrow(/longer than 1024/);
});
