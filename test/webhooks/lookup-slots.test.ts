import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { workFor } from "../../src/foundation/work-for.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import { LookupSlots } from "../../src/webhooks/lookup-slots.ts";
import { createHostResolver, type ResolveHost } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender } from "../../src/webhooks/send.ts";
import { type DnsAnswer, type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { until } from "../support/until.ts";

let zone: Record<string, DnsAnswer>;
let dns: DnsServer;
let now: number;
let resolveHost: ResolveHost;

beforeEach(async () => {
  now = 0;
  zone = {};
  for (let index = 0; index < 300; index += 1) zone[`hanging${index}.example`] = "silence";
  for (const name of ["one.example", "two.example", "three.example"]) zone[name] = ["127.0.0.1"];
  dns = await startDnsServer(zone);
  // What is left of a test must not ask in the next one.
  const { resolver } = dns;
  const ask: ResolveHost = async (host) =>
    (await resolver.resolve4(host)).map((address) => ({ address, family: 4 }));
  resolveHost = createHostResolver(ask, new LookupSlots(() => now));
});

afterEach(() => {
  for (const name of Object.keys(zone)) zone[name] = "NXDOMAIN";
  dns.resolver.cancel();
});

const askedHanging = () => dns.asked.filter((name) => name.startsWith("hanging"));

/** Asks for names that hang, from one number on. */
function hang(workspace: string | null, from: number, count: number) {
  const ended: unknown[] = [];
  for (let index = from; index < from + count; index += 1)
    void workFor(workspace, () => resolveHost(`hanging${index}.example`)).catch((error: unknown) =>
      ended.push(error),
    );
  return ended;
}

/** Has questions under way end that were asked a time ago. */
async function endAfter(ms: number, ended: readonly unknown[], count: number): Promise<void> {
  now += ms;
  dns.resolver.cancel();
  await until(() => ended.length >= count);
}

test("while 60 names of one workspace hang, the names of another one are looked up", async () => {
  hang("greedy", 0, 60);
  for (const name of ["one.example", "two.example", "three.example"])
    expect(await workFor("other", () => resolveHost(name))).toEqual([{ address: "127.0.0.1", family: 4 }]);
  expect(askedHanging()).toEqual(["hanging0.example"]);
});

test("a webhook is delivered while the names of another workspace's webhooks hang", async () => {
  await using receiver = await startReceiverWith((response) => response.end());
  const allowed = parseAllowedNetworks(["127.0.0.0/8"]);
  const sender = createHttpSender({ allowed, timeoutMs: 60_000, resolveHost });
  onTestFinished(() => sender.destroy());
  const send = (workspace: string, host: string) =>
    workFor(workspace, () => {
      const destination = { origin: `http://${host}:${receiver.port}`, path: "/" };
      return sender.send({ destination, headers: {}, body: Buffer.from("{}"), allowPrivate: true });
    });
  for (let index = 0; index < 60; index += 1) void send("greedy", `hanging${index}.example`);
  expect(await send("other", "one.example")).toMatchObject({ kind: "answer", status: 200 });
  expect(askedHanging()).toEqual(["hanging0.example"]);
});

test("workspaces whose names were slow share one place, whatever the names are", async () => {
  hang("greedy", 0, 1);
  hang("second", 1, 1);
  await until(() => askedHanging().length === 2);
  now += 1001;
  dns.resolver.cancel();
  await expect(workFor("other", () => resolveHost("one.example"))).resolves.toHaveLength(1);

  hang("greedy", 10, 20);
  hang("second", 40, 20);
  await workFor("other", () => resolveHost("two.example"));
  expect(askedHanging().slice(2)).toEqual(["hanging10.example"]);
});

test("waiting workspaces take turns", async () => {
  const ended = hang("greedy", 0, 20);
  hang("second", 40, 1);
  await until(() => askedHanging().length === 2);
  const third = hang("third", 50, 20);
  const fourth = hang("fourth", 80, 20);
  // Not long enough to count as slow.
  await endAfter(10, ended, 1);
  await until(() => askedHanging().length === 4);
  expect(askedHanging().slice(2).toSorted()).toEqual(["hanging50.example", "hanging80.example"]);
  expect([third, fourth]).toEqual([[], []]);
});

test("a workspace that is alone has both places, and names that were slow have one of them", async () => {
  const ended = hang(null, 0, 3);
  await until(() => askedHanging().length === 2);
  await endAfter(1001, ended, 2);
  await until(() => askedHanging().length === 3);
  await endAfter(1001, ended, 3);
  hang(null, 0, 2);
  expect(await resolveHost("one.example")).toHaveLength(1);
  expect(await resolveHost("two.example")).toHaveLength(1);
});

test("a workspace has at most 200 names in the line; further ones fail at once", async () => {
  const ended = hang("greedy", 0, 202);
  await until(() => ended.length === 1);
  expect(ended).toMatchObject([{ code: "EAI_AGAIN" }]);
});
