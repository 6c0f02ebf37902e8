import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { until } from "../support/until.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

const FORWARDED = { "x-forwarded-for": "198.51.100.7" };

function noted({ log }: TestServer): { address: string; level: string }[] {
  return log
    .map((line) => JSON.parse(line) as { event: string; address: string; level: string })
    .filter(({ event }) => event === "proxy.untrusted");
}

function stored({ owner }: TestServer): unknown {
  return owner.prepare("SELECT address, seen_at FROM untrusted_proxy").get();
}

test("posts through a proxy on this machine that is not trusted are noted, in the log and for doctor, once an hour", async () => {
  const server = await startServer();
  const { publishable } = await server.addEndpoint();
  const firstAt = server.clock.now();
  for (let count = 0; count < 3; count += 1) await server.post(publishable, goodPost, FORWARDED);
  expect(noted(server)).toMatchObject([{ address: "127.0.0.1", level: "warn" }]);
  expect(stored(server)).toEqual({ address: "127.0.0.1", seen_at: firstAt });

  server.clock.advance(HOUR_MS - 1);
  await server.post(publishable, goodPost, FORWARDED);
  expect(noted(server)).toHaveLength(1);
  server.clock.advance(1);
  await server.post(publishable, goodPost, FORWARDED);
  expect(noted(server)).toHaveLength(2);
  expect(stored(server)).toEqual({ address: "127.0.0.1", seen_at: firstAt + HOUR_MS });

  server.clock.advance(-DAY_MS);
  await server.post(publishable, goodPost, FORWARDED);
  expect(noted(server)).toHaveLength(3);
});

test("plain posts, and those through a trusted proxy, are no reason for a note", async () => {
  const direct = await startServer();
  await direct.post((await direct.addEndpoint()).publishable, goodPost);
  const behind = await startServer({ server: { trustProxy: ["127.0.0.1"] } });
  await behind.post((await behind.addEndpoint()).publishable, goodPost, FORWARDED);
  for (const server of [direct, behind]) expect([noted(server), stored(server)]).toEqual([[], undefined]);
});

test("a note that cannot be written costs the post nothing", async () => {
  const server = await startServer();
  const { publishable } = await server.addEndpoint();
  server.owner.prepare("ALTER TABLE untrusted_proxy RENAME COLUMN seen_at TO elsewhere").run();
  expect((await server.post(publishable, goodPost, FORWARDED)).status).toBe(200);
  expect(noted(server)).toHaveLength(1);
});

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly advice: string | null;
}

test("doctor names the untrusted proxy and the line to write, until that is done or the proxy is gone for a week", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  const examine = async (env: Record<string, string> = {}): Promise<Check> => {
    const { checks } = (await machine.run(["doctor", "--json"], { env })).json() as { checks: Check[] };
    return checks.find(({ name }) => name === "proxies.trusted") as Check;
  };
  await post(server.url, endpoint.publishable);
  expect(await examine()).toMatchObject({ ok: true, message: "no proxy was seen that is not trusted" });

  const headers = { authorization: `Bearer ${endpoint.publishable}`, ...FORWARDED };
  await fetch(`${server.url}/submit`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  });
  await until(() => server.lines.some(({ event }) => event === "proxy.untrusted"));
  const found = await examine();
  expect([found.ok, found.message]).toEqual([
    false,
    expect.stringMatching(
      /^requests from 127\.0\.0\.1 carry X-Forwarded-For, which is not believed \(last at 20/,
    ),
  ]);
  const line = '"server": { "trustProxy": ["127.0.0.1","::1"] }';
  expect(found.advice).toContain(`write into ./formsvc.config.json: ${line}; then restart the server`);
  expect(found.advice).toContain("docs/reverse-proxies.md");
  const variable = "FORMSVC_SERVER_TRUST_PROXY";
  expect((await examine({ [variable]: '["10.0.0.1"]' })).advice).toContain(
    `set ${variable}='["10.0.0.1","127.0.0.1","::1"]'`,
  );

  rmSync(machine.path("formsvc.config.json"));
  expect((await examine()).advice).toContain(`write { ${line} } into a new formsvc.config.json`);
  machine.configure(JSON.parse(`{${line}}`) as Record<string, unknown>);
  expect(await examine()).toMatchObject({ ok: true, message: "the proxy 127.0.0.1 is trusted" });
  machine.configure({});
  machine.open().prepare("UPDATE untrusted_proxy SET seen_at = seen_at - 7 * 86400000").run();
  expect((await examine()).ok).toBe(true);
});
