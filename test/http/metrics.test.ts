import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { ServerHere } from "../support/machine-database.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { until } from "../support/until.ts";
import { documentedMetrics, ONLY_ON_POSTGRESQL, servedMetrics } from "../support/documented-metrics.ts";

const TOKEN = "a-token-of-some-length";
const ON_ITS_OWN = { enabled: true, listen: "127.0.0.1:0" };

/** Samples by their name and labels. */
function samples(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(" ")),
      Number(line.slice(line.lastIndexOf(" ") + 1)),
    ]),
  );
}

type Serve = (
  machine: OperatorMachine,
) => Promise<Pick<ServerHere, "url" | "lines"> & { stop(): Promise<unknown> }>;
const inThisProcess: Serve = (machine) => machine.serveHere();
const asProcess: Serve = (machine) => machine.serve();

async function servedWith(metrics: unknown, others: Record<string, unknown> = {}, serve = inThisProcess) {
  const machine = operatorMachine();
  machine.configure({ metrics, ...others });
  const endpoint = await machine.createEndpoint();
  const server = await serve(machine);
  const listening = server.lines.find(({ event }) => event === "metrics.listening");
  const metricsUrl = (listening?.["url"] as string | undefined) ?? `${server.url}/metrics`;
  const ask = (headers: Record<string, string> = {}) => fetch(metricsUrl, { headers });
  return { machine, endpoint, server, metricsUrl, ask };
}

test("there are no metrics unless they are configured", async () => {
  const { ask } = await servedWith({ enabled: false });
  expect((await ask()).status).toBe(404);
});

test("posts are counted by how they ended, stored ones with commit, batch and score, and everything by latency", async () => {
  const { machine, endpoint, server, ask } = await servedWith(ON_ITS_OWN);
  for (let count = 0; count < 3; count += 1) await post(server.url, endpoint.secret);
  const send = (key: string, body: string) =>
    fetch(`${server.url}/submit`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body,
    });
  expect((await send(endpoint.secret, "{}")).status).toBe(400);
  expect((await send("fsk_nonsense", "{}")).status).toBe(401);

  const answer = await ask();
  expect(answer.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  const text = await answer.text();
  const found = samples(text);
  expect(found.get('formsvc_posts_total{outcome="accepted"}')).toBe(3);
  expect(found.get('formsvc_posts_total{outcome="validation_failed"}')).toBe(1);
  expect(found.get('formsvc_posts_total{outcome="unauthorized"}')).toBe(1);
  expect(found.get("formsvc_spam_score_count")).toBe(3);
  expect(found.get("formsvc_commit_batch_submissions_sum")).toBe(3);
  expect(found.get("formsvc_commit_duration_seconds_count")).toBe(3);
  expect(found.get("formsvc_commit_queue_submissions")).toBe(0);
  expect(found.get('formsvc_http_request_duration_seconds_count{route="/submit",status="200"}')).toBe(3);
  expect(found.get("formsvc_database_bytes")).toBeGreaterThan(0);
  expect(found.get("formsvc_database_log_bytes")).toBeGreaterThan(0);
  expect([...found].find(([name]) => name.startsWith("formsvc_workspace_used_submissions"))?.[1]).toBe(3);
  expect(text).not.toContain(endpoint.secret.slice(4, 16));
  expect(text).not.toContain("ada@example.org");
  expect(machine.folder).toBeTruthy();
});

test("every way that a post can end stands at 0 from the start, so that the first failure of a kind is an increase", async () => {
  const { endpoint, server, ask } = await servedWith(ON_ITS_OWN);
  const found = samples(await (await ask()).text());
  const counted = [...found].filter(([name]) => name.startsWith("formsvc_posts_total"));
  expect(counted.length).toBeGreaterThanOrEqual(16);
  expect(counted.filter(([, value]) => value !== 0)).toEqual([]);
  await post(server.url, endpoint.secret);
  const after = samples(await (await ask()).text());
  expect(after.get('formsvc_posts_total{outcome="accepted"}')).toBe(1);
  for (const outcome of ["unavailable", "internal", "database_busy", "database_unusable", "unauthorized"])
    expect(after.get(`formsvc_posts_total{outcome="${outcome}"}`)).toBe(0);
});

test("held posts that had to go and months that fill up are counted, each kind at 0 from the start", async () => {
  const { endpoint, server, ask } = await servedWith(ON_ITS_OWN, {
    plans: { hobby: { monthlySubmissions: 5, endpoints: null, customSpam: false } },
    held: { maxPerWorkspace: 1 },
  });
  const counted = async () => {
    const found = samples(await (await ask()).text());
    return [...found].filter(([name]) => /^formsvc_(held_evicted|limit_reached)_total/.test(name));
  };
  const counts = (spam: number, limit: number, near: number, full: number) => [
    ['formsvc_held_evicted_total{why="spam"}', spam],
    ['formsvc_held_evicted_total{why="limit"}', limit],
    ['formsvc_held_evicted_total{why="origin"}', 0],
    ['formsvc_limit_reached_total{percent="80"}', near],
    ['formsvc_limit_reached_total{percent="100"}', full],
  ];
  expect(await counted()).toEqual(counts(0, 0, 0, 0));
  for (let sent = 0; sent < 4; sent += 1) await post(server.url, endpoint.secret);
  expect(await counted()).toEqual(counts(0, 0, 1, 0));
  await post(server.url, endpoint.secret);
  const body = JSON.stringify({ name: "Ada", email: "ada@example.org", message: "hello" });
  const headers = { authorization: `Bearer ${endpoint.secret}`, "content-type": "application/json" };
  for (let sent = 0; sent < 3; sent += 1) {
    const answer = await fetch(`${server.url}/submit`, { method: "POST", headers, body });
    expect(answer.status).toBe(429);
  }
  expect(await counted()).toEqual(counts(0, 2, 1, 1));
});

test("a client that leaves before its answer is counted as such, by the route that it asked for", async () => {
  const { endpoint, server, ask } = await servedWith(ON_ITS_OWN);
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const head = `POST /submit HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${endpoint.secret}\r\n`;
  const rest = "Content-Type: application/json\r\nContent-Length: 99\r\nX-Request-Id: left\r\n\r\n{";
  socket.write(head + rest, () => socket.destroy());
  await until(() => server.lines.some(({ reqId, status }) => reqId === "left" && status === null));
  const found = samples(await (await ask()).text());
  expect(found.get('formsvc_http_request_duration_seconds_count{route="/submit",status="none"}')).toBe(1);
});

test("webhooks are counted by state, and one that gets probes only as failing", async () => {
  const { machine, endpoint, ask } = await servedWith(ON_ITS_OWN);
  const counted = async () => {
    const found = samples(await (await ask()).text());
    const states = ["enabled", "disabled", "stopped", "failing"];
    return states.map((state) => found.get(`formsvc_webhooks{state="${state}"}`));
  };
  expect(await counted()).toEqual([0, 0, 0, 0]);
  const insert = machine.open().prepare(
    `INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at)
     VALUES (?, ?, 75, ?, ?, 0, 0, 0)`,
  );
  const webhooks = [
    ["enabled", "closed"],
    ["enabled", "ramping"],
    ["enabled", "open"],
    ["disabled", "open"],
    ["stopped", "open"],
  ] as const;
  for (const [index, [state, breaker]] of webhooks.entries())
    insert.run(`wh_${index}`, endpoint.id, state, breaker);
  expect(await counted()).toEqual([2, 1, 1, 1]);
});

test("the process is measured under the names that dashboards know", async () => {
  const { ask } = await servedWith(ON_ITS_OWN, {}, asProcess);
  const text = await (await ask()).text();
  const found = samples(text);
  expect(text).toContain("# TYPE process_cpu_seconds_total counter");
  expect(found.get("process_cpu_seconds_total")).toBeGreaterThan(0);
  const startedMs = (found.get("process_start_time_seconds") ?? 0) * 1000;
  expect(Math.abs(Date.now() - startedMs)).toBeLessThan(600_000);
  expect(found.get("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(found.get("nodejs_heap_size_used_bytes")).toBeGreaterThan(1_000_000);
  expect(found.get("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
  if (existsSync("/proc/self/fd")) expect(found.get("process_open_fds")).toBeGreaterThan(3);
  const again = samples(await (await ask()).text());
  expect(again.get("process_cpu_seconds_total")).toBeGreaterThan(found.get("process_cpu_seconds_total") ?? 0);
});

test("the page on monitoring names every metric that is served, and no other", async () => {
  const { endpoint, server, ask } = await servedWith(ON_ITS_OWN);
  await post(server.url, endpoint.secret);
  const text = await (await ask()).text();
  const documented = documentedMetrics().filter((name) => !ONLY_ON_POSTGRESQL.includes(name));
  expect(servedMetrics(text)).toEqual(documented);
});

test("without a token metrics are on their own address only: on the port of posts there are none, not even for the machine itself", async () => {
  const { server, ask } = await servedWith(ON_ITS_OWN);
  expect((await ask()).status).toBe(200);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
});

test("with a token only who sends it sees them, on either port, and config show keeps it to itself", async () => {
  const { machine, server, ask } = await servedWith({ ...ON_ITS_OWN, token: TOKEN });
  const askPublic = (headers: Record<string, string>) => fetch(`${server.url}/metrics`, { headers });
  for (const scrape of [ask, askPublic]) {
    expect((await scrape({ authorization: `Bearer ${TOKEN}`, "x-forwarded-for": "192.0.2.1" })).status).toBe(
      200,
    );
    for (const authorization of ["", `Bearer ${TOKEN}x`, TOKEN, "Bearer "]) {
      const refused = await scrape(authorization === "" ? {} : { authorization });
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    }
  }
  const shown = await machine.mustRun(["config", "show"]);
  expect(shown.stdout).not.toContain(TOKEN);
  expect(shown.stdout).toContain("[redacted]");
});

test("with a token and no address of their own they are on the port of posts", async () => {
  const { server } = await servedWith({ enabled: true, token: TOKEN });
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await fetch(`${server.url}/metrics`, { headers })).status).toBe(200);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  expect(server.lines.map(({ event }) => event)).not.toContain("metrics.listening");
});

test("their own address serves nothing else, and one answer a connection", async () => {
  const { ask, metricsUrl } = await servedWith(ON_ITS_OWN);
  const other = await fetch(metricsUrl.replace("/metrics", "/submit"), { method: "POST", body: "{}" });
  expect(other.status).toBe(404);
  expect(await other.json()).toMatchObject({ message: "This address serves /metrics only." });
  expect((await ask()).headers.get("connection")).toBe("close");

  const { hostname, port } = new URL(metricsUrl);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  socket.end("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500));
  let taken = "";
  for await (const part of socket) taken += String(part);
  expect(taken.match(/^# TYPE formsvc_posts_total /gm)).toHaveLength(1);
});

test("a scraper that keeps its connection does not hold up a stop", async () => {
  const { server, metricsUrl } = await servedWith(ON_ITS_OWN, {}, asProcess);
  const { hostname, port } = new URL(metricsUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write("GET /metrics HTTP/1.1\r\n");
  // Never silent, so that only the time limit of the whole request would end it, with an answer.
  const trickle = setInterval(() => socket.write("X: 1\r\n"), 50);
  let answered = "";
  socket.on("error", () => {}).on("data", (part) => (answered += String(part)));
  // Not `once` of node:events: a write after the server's end resets the connection, and it would reject then.
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  expect(await server.stop()).toBe(0);
  await closed;
  clearInterval(trickle);
  expect(answered).toBe("");
});

test("enabled metrics with neither an address of their own nor a token are refused with what to write", async () => {
  const machine = operatorMachine();
  machine.configure({ metrics: { enabled: true } });
  for (const command of [["serve"], ["config", "check"]]) {
    const ran = await machine.run(command);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(
      'metrics.listen: enabled metrics need an address of their own or a token: write "listen": "127.0.0.1:8788"',
    );
  }
});

test("a command works without the token that only the service's environment has", async () => {
  const machine = operatorMachine();
  machine.configure({ metrics: { enabled: true } });
  await machine.createEndpoint();
  await machine.serve({ env: { FORMSVC_METRICS_TOKEN: TOKEN } });
  expect((await machine.run(["held", "list"])).code).toBe(0);
});

test("an address for metrics that is taken ends the start with what to do, and leaves nothing that listens", async () => {
  const { metricsUrl } = await servedWith(ON_ITS_OWN);
  const listen = new URL(metricsUrl).host;
  const second = operatorMachine();
  second.configure({ server: { port: 0 }, metrics: { enabled: true, listen } });
  const ran = await second.run(["serve"]);
  expect([ran.code, ran.stderr]).toEqual([
    1,
    `formsvc: ${listen}: the port is taken; stop what listens there, or choose another with metrics.listen\n`,
  ]);
  second.configure({ server: { port: 0 }, metrics: { enabled: true, listen: "8788" } });
  const bad = await second.run(["serve"]);
  expect(bad.code).toBe(2);
  expect(bad.stderr).toMatch(/metrics\.listen: .*: write an address with a port, like "127\.0\.0\.1:8788"/);
});

test("metrics that others may reach without a token are warned of, in the log and by doctor", async () => {
  const { machine, server } = await servedWith({ enabled: true, listen: "0.0.0.0:0" });
  expect(server.lines).toContainEqual(expect.objectContaining({ event: "metrics.unguarded", level: "warn" }));
  const checks = async () => {
    const { checks: found } = (await machine.run(["doctor", "--json"])).json() as {
      checks: { name: string; ok: boolean; message: string; advice: string | null }[];
    };
    return found.find(({ name }) => name === "metrics.address");
  };
  const found = await checks();
  expect([found?.ok, found?.message]).toEqual([
    false,
    "everybody who reaches 0.0.0.0:0 can read the metrics without a token",
  ]);
  expect(found?.advice).toMatch(/FORMSVC_METRICS_TOKEN=.*restart the server/);
  for (const harmless of [{ listen: "0.0.0.0:0", token: TOKEN }, { listen: "localhost:0" }]) {
    machine.configure({ metrics: { enabled: true, ...harmless } });
    expect((await checks())?.ok).toBe(true);
  }
});

test("every metric that the dashboard asks for is there", async () => {
  const { endpoint, server, ask } = await servedWith(ON_ITS_OWN);
  await post(server.url, endpoint.secret);
  const text = await (await ask()).text();
  const dashboard = readFileSync(new URL("../../docs/grafana-dashboard.json", import.meta.url), "utf8");
  const asked = new Set(dashboard.match(/\b(?:formsvc|process|nodejs)_[a-z0-9_]+/g));
  expect(asked.size).toBeGreaterThan(10);
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const missing = [...asked].filter(
    (name) => !known.has(name.replace(/_(?:bucket|sum|count)$/, "")) && !known.has(name),
  );
  expect(missing).toEqual([]);
});
