import { expect, test } from "vitest";
import { findAddressRefusal, parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { normalizeWebhookUrl } from "../../src/webhooks/webhook-url.ts";

const NOTHING = parseAllowedNetworks([]);

function refusal(address: string, allow: string[] = [], allowPrivate = false, host = address): string | null {
  return findAddressRefusal(address, host, { allowed: parseAllowedNetworks(allow), allowPrivate });
}

const PRIVATE = [
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.1.2.3",
  "64:ff9b::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::1",
  "2002:7f00:1::",
  "2002:a00:1::1",
  "2002:808:808::1",
  "2001::1",
  "2001:db8::1",
  "3fff::1",
  "fc00::1",
  "fd12:3456::1",
  "fec0::1",
  "ff02::1",
  "5f00::1",
  "4000::1",
  "100::1",
];

const METADATA = [
  "169.254.169.254",
  "169.254.0.1",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::",
  "::169.254.169.254",
  "fe80::1",
  "fe80::1%eth0",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd20:ce::254",
];

const PUBLIC = [
  "8.8.8.8",
  "1.1.1.1",
  "172.32.0.1",
  "100.128.0.1",
  "192.0.1.1",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];
PUBLIC.push("2606:4700::1111", "2a00:1450:4001::200e", "2003::1");

test("every private, reserved and metadata address is refused, however it is wrapped", () => {
  for (const address of [...PRIVATE, ...METADATA]) expect(refusal(address), address).not.toBeNull();
});

test("public addresses are not refused, in a v4-mapped or NAT64 address neither", () => {
  for (const address of PUBLIC) expect(refusal(address), address).toBeNull();
});

test("what is no address at all is refused", () => {
  for (const text of ["", "localhost", "1.2.3", "::g", "nothing"]) expect(refusal(text)).toBe("unreadable");
});

test("a webhook allowed to go private reaches private addresses but never link-local or metadata ones", () => {
  for (const address of PRIVATE) expect(refusal(address, [], true), address).toBeNull();
  for (const address of METADATA) expect(refusal(address, [], true), address).not.toBeNull();
});

test("an allowed network opens its addresses, wrapped ones too, and no others", () => {
  const allow = ["10.0.0.0/8", "fd00::/8"];
  for (const address of ["10.9.9.9", "::ffff:10.1.1.1", "fd12::1"])
    expect(refusal(address, allow)).toBeNull();
  for (const address of ["192.168.0.1", "127.0.0.1", "fc00::1"])
    expect(refusal(address, allow)).not.toBeNull();
});

test("link-local and metadata addresses open only when listed exactly", () => {
  const wide = ["0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.252/30"];
  for (const address of METADATA) expect(refusal(address, wide, true), address).not.toBeNull();
  expect(refusal("169.254.169.254", ["169.254.169.254"])).toBeNull();
  expect(refusal("169.254.169.254", ["169.254.169.254/32"])).toBeNull();
  expect(refusal("::ffff:169.254.169.254", ["169.254.169.254"])).toBeNull();
  expect(refusal("169.254.169.253", ["169.254.169.254"])).not.toBeNull();
  expect(refusal("fe80::1", ["fe80::1"])).toBeNull();
  expect(refusal("::1", ["::1"])).toBeNull();
});

test("an allowed name opens what it resolves to, in any case and with a final dot, except metadata", () => {
  const allow = ["n8n.Internal."];
  expect(refusal("10.0.0.7", allow, false, "n8n.internal")).toBeNull();
  expect(refusal("10.0.0.7", allow, false, "N8N.internal.")).toBeNull();
  expect(refusal("10.0.0.7", allow, false, "other.internal")).toBe("private");
  expect(refusal("169.254.169.254", allow, false, "n8n.internal")).toBe("link-local");
});

test("odd spellings of a literal host become the address that is checked", () => {
  const spellings = [
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1.",
    "１２７.0.0.1",
    "0x7f.1",
  ];
  for (const host of spellings) {
    const { hostname } = new URL(normalizeWebhookUrl(`http://${host}/`));
    expect(findAddressRefusal(hostname, hostname, { allowed: NOTHING, allowPrivate: false }), host).toBe(
      "loopback",
    );
  }
});
