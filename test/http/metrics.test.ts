import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine, post } from "../support/operator-machine.ts";

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

test("without a token metrics are shown on the machine itself only, not through a proxy on it", async () => {
  const { ask } = await servedWith({ enabled: true });
  expect((await ask()).status).toBe(200);
  for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip"]) {
    expect((await ask({ [name]: "192.0.2.1" })).status).toBe(403);
  }
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
