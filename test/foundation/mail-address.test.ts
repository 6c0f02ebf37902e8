import { expect, test } from "vitest";
import { domainOf, isSameAddress, parseMailAddress } from "../../src/foundation/mail-address.ts";

test.each([
  ["ada@example.org", "ada@example.org"],
  ["Ada.Lovelace+forms@Example.ORG", "Ada.Lovelace+forms@example.org"],
  ["o'brien@example.org", "o'brien@example.org"],
  ["!#$%&'*+/=?^_`{|}~-@example.org", "!#$%&'*+/=?^_`{|}~-@example.org"],
  ["root@localhost", "root@localhost"],
  ["info@bücher.example", "info@xn--bcher-kva.example"],
  ["info@faß.example", "info@xn--fa-hia.example"],
  [`${"a".repeat(64)}@example.org`, `${"a".repeat(64)}@example.org`],
])("%s is an address, its domain in lower case and ASCII", (text, address) => {
  expect(parseMailAddress(text)).toBe(address);
  expect(parseMailAddress(address)).toBe(address);
});

const NONE: readonly string[] = [
  "",
  "@",
  "ada",
  "ada@",
  "@example.org",
  " ada@example.org",
  "ada@example.org ",
  "ada @example.org",
  "ada@ example.org",
  "Ada <ada@example.org>",
  "<ada@example.org>",
  '"ada"@example.org',
  '"ada@evil.example"@example.org',
  "ada@evil.example@example.org",
  "ada@example.org,eve@example.org",
  "ada@example.org;eve@example.org",
  "ada,eve@example.org",
  "ada(comment)@example.org",
  "ada\\@example.org",
  "ada@example.org\r\nBcc: eve@example.org",
  "ada@example.org\n",
  "ada\n@example.org",
  "ada@exam\nple.org",
  "ada\u0000@example.org",
  "ada@example.org\u0000",
  "ada\u2028@example.org",
  "ada@example.org\u2028",
  "ada@\u202eexample.org",
  "ada\t@example.org",
  ".ada@example.org",
  "ada.@example.org",
  "a..b@example.org",
  "ada@.example.org",
  "ada@example.org.",
  "ada@example..org",
  "ada@-example.org",
  "ada@example-.org",
  "ada@example_org",
  "ada@[127.0.0.1]",
  "ada@127.0.0.1",
  "ada@0x7f.1",
  "ada@2130706433",
  "ada@exa%6dple.org",
  "ada@example.org/path",
  "ada@example.org?x",
  "ada@example.org#x",
  "ada@example.org:25",
  "jürgen@example.org",
  "ada\ud800@example.org",
  "ada@exam\ud800ple.org",
  `${"a".repeat(65)}@example.org`,
  `ada@${"a".repeat(64)}.org`,
  `ada@${"abcdefg.".repeat(32)}org`,
  "a@".repeat(32_768),
];

test("nothing else is an address: no list, no name, no quotes, no control characters, no literal", () => {
  expect(NONE.filter((text) => parseMailAddress(text) !== null)).toEqual([]);
});

test("the domain of an address is what stands behind its at sign", () => {
  expect(domainOf("ada@example.org")).toBe("example.org");
});

test("two addresses are the same whatever the case of their ASCII letters, and of no others", () => {
  expect(isSameAddress("Ada@Example.ORG", "ada@example.org")).toBe(true);
  expect(isSameAddress("jürgen@example.org", "Jürgen@example.org")).toBe(true);
  const others = [
    "ada@exampİe.org",
    "aDA@example.orɡ",
    "ıda@example.org",
    "\u212Aim@example.org",
    "Jürgen@x.org",
  ];
  const like = ["ada@exampie.org", "ada@example.org", "Ida@example.org", "kim@example.org", "JÜRGEN@x.org"];
  expect(others.filter((other, index) => isSameAddress(other, like[index] ?? ""))).toEqual([]);
});
