import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { operatorMachine, post } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";

const TOKEN = "a-token-of-some-length";

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

async function servedWith(metrics: unknown) {
  const machine = operatorMachine();
  machine.configure({ metrics });
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const ask = (headers: Record<string, string> = {}) => fetch(`${server.url}/metrics`, { headers });
  return { machine, endpoint, server, ask };
}

test("there are no metrics unless they are configured", async () => {
  const { ask } = await servedWith({ enabled: false });
  expect((await ask()).status).toBe(404);
});

test("posts are counted by how they ended, stored ones with commit, batch and score, and everything by latency", async () => {
  const { machine, endpoint, server, ask } = await servedWith({ enabled: true });
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
  const { endpoint, server, ask } = await servedWith({ enabled: true });
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

test("a client that leaves before its answer is counted as such, by the route that it asked for", async () => {
  const { endpoint, server, ask } = await servedWith({ enabled: true });
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
  const { machine, endpoint, ask } = await servedWith({ enabled: true });
  const counted = async () => {
    const found = samples(await (await ask()).text());
    const states = ["enabled", "disabled", "stopped", "failing"];
    return states.map((state) => found.get(`formsvc_webhooks{state="${state}"}`));
  };
  expect(await counted()).toEqual([0, 0, 0, 0]);
  const insert = machine.open().prepare(
    `INSERT INTO webhook (id, endpoint_id, url, headers, allow_private, max_spam_score, state, breaker, breaker_count,
       not_before, created_at)
     VALUES (?, ?, 'https://example.org/hook', '{}', 0, 75, ?, ?, 0, 0, 0)`,
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
  const { ask } = await servedWith({ enabled: true });
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
  const { endpoint, server, ask } = await servedWith({ enabled: true });
  await post(server.url, endpoint.secret);
  const text = await (await ask()).text();
  const page = readFileSync(new URL("../../docs/monitoring.md", import.meta.url), "utf8");
  const served = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? "");
  const base = (name: string) => name.replace(/_(?:bucket|sum|count)$/, "");
  const named = [...page.matchAll(/\b(?:formsvc|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => base(name));
  expect([...new Set(named)].sort()).toEqual(served.sort());
});

test("without a token metrics are shown on the machine itself only, not through a proxy on it", async () => {
  const { ask } = await servedWith({ enabled: true });
  expect((await ask()).status).toBe(200);
  for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip"]) {
    expect((await ask({ [name]: "192.0.2.1" })).status).toBe(403);
  }
});

test.skipIf(process.platform !== "linux")("every loopback address is the machine itself", async () => {
  const { server } = await servedWith({ enabled: true });
  const [answer] = (await once(get(`${server.url}/metrics`, { localAddress: "127.0.0.2" }), "response")) as [
    IncomingMessage,
  ];
  answer.resume();
  expect(answer.statusCode).toBe(200);
});

test("with a token only who sends it sees them, and config show keeps it to itself", async () => {
  const { machine, ask } = await servedWith({ enabled: true, token: TOKEN });
  expect((await ask({ authorization: `Bearer ${TOKEN}`, "x-forwarded-for": "192.0.2.1" })).status).toBe(200);
  for (const authorization of ["", `Bearer ${TOKEN}x`, TOKEN, "Bearer "]) {
    const refused = await ask(authorization === "" ? {} : { authorization });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  }
  const shown = await machine.mustRun(["config", "show"]);
  expect(shown.stdout).not.toContain(TOKEN);
  expect(shown.stdout).toContain("[redacted]");
});

test("every metric that the dashboard asks for is there", async () => {
  const { endpoint, server, ask } = await servedWith({ enabled: true });
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
