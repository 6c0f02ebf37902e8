import { networkInterfaces } from "node:os";
import { setDefaultCACertificates, getCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { classify } from "../../src/webhooks/classify.ts";
import { isOwnAddress, isWebPort, noOwnAddress } from "../../src/webhooks/own-address.ts";
import { createHostResolver, findHostRefusal, type ResolveHost } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender, destinationOf, type HttpSender } from "../../src/webhooks/send.ts";
import { createAuthority, type Authority } from "../support/certificates.ts";
import { startReceiverWith, type TestReceiver } from "../support/receivers.ts";

const BODY = Buffer.from("{}");
const senders: HttpSender[] = [];
const ordinaryAuthorities = getCACertificates("default");
let authority: Authority;

beforeAll(() => {
  authority = createAuthority();
  setDefaultCACertificates([...ordinaryAuthorities, authority.cert]);
});

afterAll(() => {
  setDefaultCACertificates(ordinaryAuthorities);
  authority.remove();
});

afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.destroy()));
});

/** Names as a name server would answer them; every other name goes to the machine's own resolver. */
function resolverOf(names: Record<string, string[]>): ResolveHost {
  const resolveHost = createHostResolver();
  return async (host) => {
    const addresses = names[host];
    if (!addresses) return resolveHost(host);
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
}

function newSender(allow: string[] = [], resolveHost = createHostResolver(), timeoutMs = 3000): HttpSender {
  const sender = createHttpSender({ allowed: parseAllowedNetworks(allow), timeoutMs, resolveHost });
  senders.push(sender);
  return sender;
}

async function outcome(sender: HttpSender, url: string, allowPrivate = false): Promise<string> {
  return classify(
    await sender.send({ destination: destinationOf(url), headers: {}, body: BODY, allowPrivate }),
  ).outcome;
}

const ok = (tls?: { key: string; cert: string }): Promise<TestReceiver> =>
  startReceiverWith((response) => response.writeHead(204).end(), tls);

test("no connection is made to a refused address, as a literal, an odd spelling or a name, over http and https", async () => {
  await using plain = await ok();
  await using secure = await ok(authority.issue("IP:127.0.0.1,DNS:localhost,DNS:inside.example"));
  const names = { "inside.example": ["127.0.0.1"], "mapped.example": ["::ffff:127.0.0.1"] };
  const sender = newSender([], resolverOf(names));
  const hosts = [
    "127.0.0.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
  ];
  hosts.push("[::1]", "0.0.0.0", "localhost", "inside.example", "mapped.example", "[::ffff:7f00:1]");
  for (const host of hosts) {
    for (const [scheme, { port }] of [
      ["http", plain],
      ["https", secure],
    ] as const) {
      const { href } = new URL(`${scheme}://${host}:${port}/`);
      expect(await outcome(sender, href), href).toBe("address_not_allowed");
    }
  }
  // Not every machine's resolver knows this spelling.
  for (const { url } of [plain, secure]) {
    expect(await outcome(sender, url.replace("127.0.0.1", "localhost."))).not.toBe("delivered");
  }
  expect(plain.connections.count + secure.connections.count).toBe(0);
});

test("a webhook created with --allow-private reaches loopback by name and literal, but not metadata", async () => {
  await using receiver = await ok();
  const sender = newSender([], resolverOf({ "sneaky.example": ["169.254.169.254"] }));
  expect(await outcome(sender, receiver.url, true)).toBe("delivered");
  expect(await outcome(sender, `http://localhost:${receiver.port}/`, true)).toBe("delivered");
  expect(await outcome(sender, "http://169.254.169.254/", true)).toBe("address_not_allowed");
  expect(await outcome(sender, "http://sneaky.example/", true)).toBe("address_not_allowed");
});

test("a connection opened with permission never carries a webhook that has none", async () => {
  await using receiver = await ok();
  const sender = newSender();
  expect(await outcome(sender, receiver.url, true)).toBe("delivered");
  expect(await outcome(sender, receiver.url, false)).toBe("address_not_allowed");
  expect(receiver.received).toHaveLength(1);
});

test("of a name with public and private addresses only the permitted ones are tried", async () => {
  await using receiver = await ok();
  const names = { "mixed.example": ["10.0.0.1", "127.0.0.1"], "inner.example": ["127.0.0.1"] };
  const sender = newSender(["127.0.0.1"], resolverOf(names));
  expect(await outcome(sender, `http://mixed.example:${receiver.port}/`)).toBe("delivered");
});

test("a name that turns private after its first look-up is refused from then on", async () => {
  await using receiver = await ok();
  const names = { "turning.example": ["127.0.0.1"] };
  const sender = newSender(["127.0.0.1"], resolverOf(names));
  const url = `http://turning.example:${receiver.port}/`;
  expect(await outcome(sender, url)).toBe("delivered");
  names["turning.example"] = ["127.0.0.2"];
  await sender.destroy();
  expect(await outcome(newSender(["127.0.0.1"], resolverOf(names)), url)).toBe("address_not_allowed");
});

test("an allowed name is reached, and what is refused is told before anything is sent", async () => {
  await using receiver = await ok();
  const resolveHost = resolverOf({ "n8n.internal": ["127.0.0.1"], "both.example": ["10.0.0.1", "8.8.8.8"] });
  expect(
    await outcome(newSender(["n8n.internal"], resolveHost), `http://n8n.internal:${receiver.port}/`),
  ).toBe("delivered");
  const policy = { allowed: parseAllowedNetworks([]), allowPrivate: false };
  expect(await findHostRefusal("n8n.internal", policy, resolveHost, noOwnAddress)).toBe(
    "n8n.internal is 127.0.0.1, and that is a loopback address",
  );
  expect(await findHostRefusal("10.0.0.1", policy, resolveHost, noOwnAddress)).toBe(
    "10.0.0.1 is a private address",
  );
  expect(await findHostRefusal("both.example", policy, resolveHost, noOwnAddress)).toBeNull();
  expect(await findHostRefusal("nothing.invalid", policy, resolveHost, noOwnAddress)).toBeNull();
});

test("a public address of this machine is refused, as a name and as a literal, unless it is allowed", async () => {
  const resolveHost = resolverOf({ "same.example": ["8.8.8.8", "2001:4860:4860::8888"] });
  const isOwn = () => Promise.resolve(true);
  const allowed = parseAllowedNetworks([]);
  const sender = createHttpSender({ allowed, timeoutMs: 3000, resolveHost, isOwn });
  senders.push(sender);
  for (const host of ["same.example", "8.8.8.8", "[2001:4860:4860::8888]", "[::ffff:8.8.8.8]"])
    for (const scheme of ["http", "https"])
      expect(await outcome(sender, `${scheme}://${host}:6379/`), host).toBe("address_not_allowed");
  const refusalOf = (allow: readonly string[], allowPrivate = false) =>
    findHostRefusal(
      "same.example",
      { allowed: parseAllowedNetworks(allow), allowPrivate },
      resolveHost,
      isOwn,
    );
  expect(await refusalOf([])).toBe("same.example is 8.8.8.8, and that is a same-machine address");
  for (const entry of ["same.example", "8.8.8.8", "8.8.8.0/24"]) expect(await refusalOf([entry])).toBeNull();
  expect(await refusalOf([], true)).toBeNull();
});

test("only at the ports of web servers are public addresses of this machine like those of others", async () => {
  const portOf = (url: string) => new URL(url).port;
  for (const url of ["https://a.example", "http://a.example", "http://a.example:443", "https://a.example:80"])
    expect(isWebPort(portOf(url)), url).toBe(true);
  for (const url of ["http://a.example:8080", "https://a.example:6379", "http://a.example:22"])
    expect(isWebPort(portOf(url)), url).toBe(false);
  expect(await noOwnAddress("127.0.0.1")).toBe(false);
});

test("the addresses of this machine are known from those of others", async () => {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const own = interfaces.filter(({ family }) => family === "IPv4").map(({ address }) => address);
  for (const address of own) expect(await isOwnAddress(address), address).toBe(true);
  expect(own).toContain("127.0.0.1");
  for (const address of ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8"])
    expect(await isOwnAddress(address), address).toBe(false);
});

test("a name server that hangs delays nobody but its own receivers", async () => {
  await using receiver = await ok();
  const inner = createHostResolver();
  const resolveHost: ResolveHost = (host) =>
    host === "hanging.example" ? new Promise(() => undefined) : inner(host);
  const sender = newSender(["127.0.0.1"], resolveHost, 1000);
  const hanging = Promise.all(Array.from({ length: 4 }, () => outcome(sender, "http://hanging.example/")));
  expect(await outcome(sender, receiver.url)).toBe("delivered");
  expect(await hanging).toEqual(["timeout", "timeout", "timeout", "timeout"]);
});

test("two questions for one name at once are one", async () => {
  const resolveHost = createHostResolver();
  const first = resolveHost("localhost");
  expect(resolveHost("localhost")).toBe(first);
  await first;
  expect(resolveHost("localhost")).not.toBe(first);
});

test("of a name with thousands of addresses the first 32 count", async () => {
  const addresses = Array.from({ length: 4000 }, (_, index) => `192.0.2.${index % 256}`);
  const resolveHost = createHostResolver(resolverOf({ "many.example": addresses }));
  const found = await resolveHost("many.example");
  expect(found.map(({ address }) => address)).toEqual(addresses.slice(0, 32));
});

test("a certificate of a trusted authority for the right host is accepted, over HTTP/1.1", async () => {
  await using receiver = await ok(authority.issue("IP:127.0.0.1"));
  expect(await outcome(newSender(["127.0.0.1"]), receiver.url)).toBe("delivered");
});

test("100 Continue that nobody asked for is no failure over TLS either", async () => {
  await using receiver = await startReceiverWith((response) => {
    response.writeContinue();
    response.writeHead(204).end();
  }, authority.issue("IP:127.0.0.1"));
  const sender = newSender(["127.0.0.1"]);
  for (let message = 0; message < 3; message += 1)
    expect(await outcome(sender, receiver.url)).toBe("delivered");
  expect(receiver.connections.count).toBeLessThan(3);
});

test("expired, self-signed and foreign certificates and ones for another host are refused", async () => {
  const foreign = createAuthority();
  const certificates = [
    authority.issue("IP:127.0.0.1", -1),
    { key: foreign.key, cert: foreign.cert },
    foreign.issue("IP:127.0.0.1"),
    authority.issue("DNS:other.example"),
  ];
  foreign.remove();
  for (const certificate of certificates) {
    await using receiver = await ok(certificate);
    expect(await outcome(newSender(["127.0.0.1"]), receiver.url)).toBe("certificate_invalid");
    expect(receiver.received).toHaveLength(0);
  }
});

test("TLS older than 1.2 and plain HTTP on a TLS address are refused", async () => {
  const certificate = authority.issue("IP:127.0.0.1");
  const old = {
    ...certificate,
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "ALL:@SECLEVEL=0",
  } as const;
  await using ancient = await ok(old);
  expect(await outcome(newSender(["127.0.0.1"]), ancient.url)).toBe("tls_failed");
  await using plain = await ok();
  expect(await outcome(newSender(["127.0.0.1"]), plain.url.replace("http:", "https:"))).toBe("tls_failed");
});
