import { isIP } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addressUnit,
  canonicalAddress,
  compileNetworks,
  isNetwork,
  isPrivate,
} from "../../src/foundation/ip-address.ts";

const v4 = fc.ipV4();
const v6 = fc.oneof(
  fc.ipV6(),
  fc
    .array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 })
    .map((parts) => parts.map((part) => part.toString(16)).join(":")),
);
const any = fc.oneof(v4, v6);

/** An address as a number of 32 or 128 bits, worked out without the library that the code uses. */
function toNumber(address: string): { bits: number; value: bigint } {
  if (!address.includes(":")) {
    return { bits: 32, value: address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n) };
  }
  const withoutV4 = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [left = "", right = ""] = withoutV4.split("::");
  const leftParts = left === "" ? [] : left.split(":");
  const rightParts = right === "" ? [] : right.split(":");
  const zeros = withoutV4.includes("::") ? 8 - leftParts.length - rightParts.length : 0;
  const parts = [...leftParts, ...Array.from({ length: zeros }, () => "0"), ...rightParts];
  const value = parts.reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
  const isMapped = value >> 32n === 0xffffn;
  return isMapped ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
}

describe("the one spelling of an address", () => {
  test("is of the same address, and stays as it is when spelled again", () => {
    fc.assert(
      fc.property(any, (text) => {
        const canonical = canonicalAddress(text);
        expect(canonical).not.toBeNull();
        expect(toNumber(canonical ?? "")).toEqual(toNumber(text));
        expect(canonicalAddress(canonical ?? "")).toBe(canonical);
      }),
      { numRuns: 2000 },
    );
  });

  test("does not depend on capitals, leading zeros or which zeros are left out", () => {
    fc.assert(
      fc.property(v6, (text) => {
        const { bits, value } = toNumber(text);
        if (bits !== 128) return;
        const full = value
          .toString(16)
          .padStart(32, "0")
          .replace(/(.{4})(?!$)/g, "$1:");
        expect(canonicalAddress(full.toUpperCase())).toBe(canonicalAddress(text));
      }),
    );
  });

  test("of an IPv4 address mapped into IPv6 is the IPv4 address, in dots and in hexadecimal", () => {
    fc.assert(
      fc.property(v4, (text) => {
        const { value } = toNumber(text);
        const hex = value.toString(16).padStart(8, "0");
        for (const mapped of [
          `::ffff:${text}`,
          `::FFFF:${hex.slice(0, 4)}:${hex.slice(4)}`,
          `0:0:0:0:0:ffff:${text}`,
        ]) {
          expect(canonicalAddress(mapped)).toBe(canonicalAddress(text));
        }
      }),
    );
  });

  test("has no zone", () => {
    expect(canonicalAddress("fe80::1%eth0")).toBe("fe80::1");
  });

  test.each([
    "2130706433",
    "127.1",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.01",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "1.2.3.-4",
    " 1.2.3.4",
    "1.2.3.4 ",
    "1.2.3.4/8",
    "1.2.3.4:80",
    "[::1]",
    ":::",
    "1::2::3",
    "::g",
    "12345::",
    "1:2:3:4:5:6:7:8:9",
    "::1.2.3",
    "::1.2.3.256",
    "::ffff:0x7f.0.0.1",
    "::ffff:010.0.0.1",
    "fe80::1%",
    "",
    "::%",
    "localhost",
    "１.2.3.4",
    `::${"0".repeat(100)}1`,
  ])("%j has none, because it is no address", (text) => {
    expect(canonicalAddress(text)).toBeNull();
  });

  test("exists exactly for what the operating system's own parser takes, and reading never throws", () => {
    const piece = fc.constantFrom(
      "0",
      "1",
      "01",
      "255",
      "256",
      "ffff",
      "10000",
      "a",
      ":",
      "::",
      ".",
      "..",
      "%",
      "x",
      " ",
      "/",
      "-",
    );
    const almost = fc.oneof(
      fc.string({ unit: "binary", maxLength: 70 }),
      fc.array(piece, { maxLength: 16 }).map((parts) => parts.join("")),
      fc
        .tuple(any, fc.nat({ max: 40 }), piece)
        .map(([text, at, part]) => text.slice(0, at) + part + text.slice(at + 1)),
    );
    fc.assert(
      fc.property(almost, (text) => {
        // A zone is the one thing that differs between systems; its rules are tried by name above.
        if (text.includes("%") || text.length > 64) return;
        expect(canonicalAddress(text) !== null).toBe(isIP(text) !== 0);
        expect(typeof addressUnit(text)).toBe("string");
        expect(isNetwork(text)).toBe(isNetwork(text));
      }),
      { numRuns: 5000 },
    );
  });
});

describe("the unit that limits count by", () => {
  test("is the address for IPv4 and the /64 for IPv6", () => {
    fc.assert(
      fc.property(any, any, (left, right) => {
        const [a, b] = [canonicalAddress(left) ?? "", canonicalAddress(right) ?? ""];
        const prefix = (address: string) => {
          const { bits, value } = toNumber(address);
          return bits === 32 ? `4 ${value}` : `6 ${value >> 64n}`;
        };
        expect(addressUnit(a) === addressUnit(b)).toBe(prefix(a) === prefix(b));
      }),
    );
  });

  test("is the same for neighbours in one /64 and another for the next one", () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 2n ** 64n - 2n),
        fc.bigInt(0n, 2n ** 64n - 1n),
        fc.bigInt(0n, 2n ** 64n - 1n),
        (net, x, y) => {
          const spell = (value: bigint) =>
            canonicalAddress(
              value
                .toString(16)
                .padStart(32, "0")
                .replace(/(.{4})(?!$)/g, "$1:"),
            ) ?? "";
          if (net === 0n) return;
          expect(addressUnit(spell((net << 64n) + x))).toBe(addressUnit(spell((net << 64n) + y)));
          expect(addressUnit(spell((net << 64n) + x))).not.toBe(addressUnit(spell(((net + 1n) << 64n) + x)));
        },
      ),
    );
  });

  test("of text that is no address is the text", () => {
    expect(addressUnit("unknown:text")).toBe("unknown:text");
  });
});

describe("networks", () => {
  test("hold exactly the addresses whose first bits are theirs", () => {
    fc.assert(
      fc.property(any, any, fc.nat({ max: 128 }), fc.boolean(), (base, other, length, near) => {
        const network = toNumber(base);
        const bits = Math.min(length, network.bits);
        // Two random addresses share hardly a bit; a near one differs from the base only in the last bits.
        const address = near ? (canonicalAddress(base) ?? "") : other;
        const entry = `${canonicalAddress(base)}/${bits}`;
        const tested = toNumber(address);
        const shift = BigInt(network.bits - bits);
        const expected = tested.bits === network.bits && tested.value >> shift === network.value >> shift;
        expect(isNetwork(entry)).toBe(true);
        expect(compileNetworks([entry]).contains(address)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test("end at exactly their last address", () => {
    fc.assert(
      fc.property(fc.nat({ max: 31 }), fc.bigInt(0n, 2n ** 32n - 1n), (bits, value) => {
        const size = 1n << BigInt(32 - bits);
        const first = (value / size) * size;
        const spell = (address: bigint) => [24n, 16n, 8n, 0n].map((by) => (address >> by) & 255n).join(".");
        const list = compileNetworks([`${spell(value)}/${bits}`]);
        expect(list.contains(spell(first))).toBe(true);
        expect(list.contains(spell(first + size - 1n))).toBe(true);
        if (first > 0n) expect(list.contains(spell(first - 1n))).toBe(false);
        if (first + size < 2n ** 32n) expect(list.contains(spell(first + size))).toBe(false);
      }),
    );
  });

  test.each([
    [["10.0.0.0/8"], "::ffff:10.9.8.7", true],
    [["::ffff:10.0.0.0/104"], "10.9.8.7", true],
    [["::ffff:10.0.0.0/104"], "11.0.0.0", false],
    [["::/0"], "10.0.0.1", false],
    [["0.0.0.0/0"], "::1", false],
    [["192.0.2.1"], "192.0.2.1", true],
    [["192.0.2.1"], "192.0.2.2", false],
    [["2001:db8::/32", "192.0.2.0/24"], "192.0.2.200", true],
    [[], "192.0.2.1", false],
    [["0.0.0.0/0", "::/0"], "nonsense", false],
  ])("%j holds %s: %j", (entries, address, expected) => {
    expect(compileNetworks(entries).contains(address)).toBe(expected);
  });

  test.each([
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/08x",
    "::/129",
    "::ffff:1.2.3.4/95",
    "/8",
    "",
    "example.com",
    "10.0.0.0/1e1",
  ])("%j is no network", (text) => {
    expect(isNetwork(text)).toBe(false);
    expect(() => compileNetworks([text])).toThrow(/not an address or CIDR/);
  });
});

test("a proxy of one's own may have an address of this machine or of a private network, and no other", () => {
  for (const address of [
    "127.0.0.1",
    "::1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "fd00::1",
    "fe80::1",
  ])
    expect([address, isPrivate(address)]).toEqual([address, true]);
  for (const address of [
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "192.169.0.1",
    "2001:db8::1",
    "2606::1",
    "nonsense",
  ])
    expect([address, isPrivate(address)]).toEqual([address, false]);
});
