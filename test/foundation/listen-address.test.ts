import { expect, test } from "vitest";
import { isThisMachine } from "../../src/foundation/ip-address.ts";
import { isListenAddress, parseListenAddress } from "../../src/foundation/listen-address.ts";

test("an address to listen on is an IPv4 address, an IPv6 address in brackets or a name, with a port", () => {
  for (const [text, host, port] of [
    ["127.0.0.1:8788", "127.0.0.1", 8788],
    ["[::1]:8788", "::1", 8788],
    ["[::ffff:10.0.0.1]:1", "::ffff:10.0.0.1", 1],
    ["localhost:0", "localhost", 0],
    ["metrics.internal-1.lan:65535", "metrics.internal-1.lan", 65_535],
  ] as const) {
    expect([text, isListenAddress(text), parseListenAddress(text)]).toEqual([text, true, { host, port }]);
  }
});

test.each([
  "",
  ":8788",
  "8788",
  "127.0.0.1",
  "127.0.0.1:",
  "127.0.0.1:65536",
  "127.0.0.1:-1",
  "127.0.0.1:8788 ",
  "127.1:8788",
  "256.0.0.1:8788",
  "::1:8788",
  "[::1]",
  "[127.0.0.1]:8788",
  "[fe80::1%eth0]:8788",
  "[::g]:8788",
  "-name:8788",
  "name-:8788",
  "http://127.0.0.1:8788",
  "127.0.0.1:8788\n127.0.0.1:8788",
  `${"a".repeat(300)}:8788`,
])("%j is none", (text) => {
  expect(isListenAddress(text)).toBe(false);
  expect(() => parseListenAddress(text)).toThrow(/not an address with a port/);
});

test("only loopback addresses and localhost are this machine alone", () => {
  const isLocal = (text: string): boolean => isThisMachine(parseListenAddress(text).host);
  for (const text of ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "LocalHost:1"])
    expect([text, isLocal(text)]).toEqual([text, true]);
  for (const text of [
    "0.0.0.0:1",
    "[::]:1",
    "10.0.0.1:1",
    "192.0.2.1:1",
    "[fd00::1]:1",
    "localhost.example:1",
  ])
    expect([text, isLocal(text)]).toEqual([text, false]);
});
