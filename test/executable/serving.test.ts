import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { collect, examplePost, makeWorkplace, post, type Server, type Workplace } from "./workplace.ts";
import { until } from "../support/until.ts";

/** No limit but the plan's: these tests send more than a person would. */
const UNLIMITED = {
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_BAD_KEY_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
};
/** What the contract gives a change to take effect; the best of several tries must keep it, as noise only adds. */
const ONE_SECOND_MS = 1000;
const TRIES = 5;

const submissionId = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { submission_id: string }).submission_id;

const servedId = (server: Server, key: string): Promise<string> => post(server.url, key).then(submissionId);

/** Posts from `clients` loops at once until `stop` is called; the statuses that came back. */
function load(server: Server, key: string, clients: number): { stop: () => Promise<number[]> } {
  const statuses: number[] = [];
  const stopping = new AbortController();
  const loops = Array.from({ length: clients }, async () => {
    while (!stopping.signal.aborted) {
      const answer = await post(server.url, key);
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      return statuses;
    },
  };
}

test("tail --follow shows what another process commits within a second, and nothing twice", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve();
  const first = await servedId(server, keys.secret);
  const tail = place.start(["submission", "tail", "--follow", "--json", "--endpoint", "Contact"]);
  let out = "";
  tail.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  await until(() => out.includes(first));
  const ids = [first];
  const delays: number[] = [];
  for (let round = 0; round < TRIES; round += 1) {
    const id = await servedId(server, keys.secret);
    const committedAt = performance.now();
    ids.push(id);
    await until(() => out.includes(id));
    delays.push(performance.now() - committedAt);
  }
  expect(Math.min(...delays)).toBeLessThan(ONE_SECOND_MS);
  const shown = out
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { id: string }).id);
  expect(shown).toEqual(ids);
});

test("tail --follow with a cursor shows all that came after it, there already or new", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve();
  const ids = [await servedId(server, keys.secret), await servedId(server, keys.secret)];
  const tail = place.start(["submission", "tail", "--follow", "--json", "--cursor", ids[0]!]);
  let out = "";
  tail.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  await until(() => out.includes(ids[1]!));
  ids.push(await servedId(server, keys.secret));
  await until(() => out.includes(ids[2]!));
  expect(out.match(/(?<="id":")sub_\w+/g)).toEqual(ids.slice(1));
});

test("tail --follow ends quietly when its reader does", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve();
  const tail = place.start(["submission", "tail", "--follow"]);
  const ended = collect(tail);
  await servedId(server, keys.secret);
  await until(() => tail.stdout!.readableFlowing === true && tail.exitCode === null);
  tail.stdout!.destroy();
  await until(async () => {
    await servedId(server, keys.secret);
    return tail.exitCode !== null;
  });
  expect((await ended).err).toBe("");
  expect(tail.exitCode).toBe(0);
});

test("a running server refuses a revoked key within a second and takes a rotated key's successor", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve([], { env: UNLIMITED });
  const delays: number[] = [];
  for (let round = 0; round < TRIES; round += 1) {
    const issued = await place.json<{ key: { id: string }; secret: string }>([
      "key",
      "issue",
      keys.endpointId,
      "--kind",
      "secret",
    ]);
    expect((await post(server.url, issued.secret)).status).toBe(200);
    expect((await place.run(["key", "revoke", issued.key.id])).code).toBe(0);
    const revokedAt = performance.now();
    await until(async () => (await post(server.url, issued.secret)).status === 401);
    delays.push(performance.now() - revokedAt);
  }
  expect(Math.min(...delays)).toBeLessThan(ONE_SECOND_MS);
  const [old] = (await place.json<{ data: { id: string }[] }>(["key", "list", keys.endpointId])).data;
  const next = await place.json<{ secret: string }>(["key", "rotate", old!.id]);
  expect((await post(server.url, next.secret)).status).toBe(200);
  await until(async () => (await post(server.url, keys.secret)).status === 401);
});

test("a running server follows a pause, a new schema and a new plan", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const env = { ...UNLIMITED, FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "1" };
  const server = await place.serve([], { env });
  const status = async (): Promise<number> => (await post(server.url, keys.secret)).status;
  expect(await status()).toBe(200);
  expect(await status()).toBe(429);
  await place.run(["workspace", "set-plan", "owner", "pro"]);
  await until(async () => (await status()) === 200);
  await place.run(["endpoint", "pause", "Contact"]);
  await until(async () => (await status()) === 403);
  await place.run(["endpoint", "resume", "Contact"]);
  await until(async () => (await status()) === 200);
  await place.run(["schema", "set", "Contact", "-"], { input: '{"city":{"type":"string","required":true}}' });
  await until(async () => (await status()) === 400);
  await place.run(["endpoint", "delete", "Contact", "--yes"]);
  await until(async () => (await status()) === 401);
});

test("commands write while the server stores posts at full speed, and neither sees an error", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve([], { env: UNLIMITED });
  expect((await post(server.url, keys.secret)).status).toBe(200);
  const posts = load(server, keys.secret, 16);
  for (let round = 0; round < 5; round += 1) {
    for (const args of [
      ["account", "create", `person${round}@example.com`],
      ["endpoint", "rename", keys.endpointId, `Name ${round}`],
      ["key", "issue", keys.endpointId, "--kind", "publishable"],
      ["endpoint", "set", keys.endpointId, "--unknown-fields", round % 2 === 0 ? "keep" : "drop"],
    ]) {
      const ran = await place.run(args);
      expect({ args, code: ran.code, err: ran.err.includes("busy") }).toEqual({ args, code: 0, err: false });
    }
  }
  const statuses = await posts.stop();
  expect(new Set(statuses)).toEqual(new Set([200]));
  const usage = await place.json<{ used: number }>(["workspace", "usage", "owner"]);
  expect(usage.used).toBe(statuses.length + 1);
});

test("a second server on the same file exits 5 and names the first; a killed one does not block", async () => {
  const place = makeWorkplace();
  const first = await place.serve();
  const second = await place.run(["serve", "--port", "0"]);
  expect(second).toMatchObject({ code: 5, out: "" });
  expect(second.err).toContain(`by process ${first.child.pid}`);
  first.child.kill("SIGKILL");
  await first.ended;
  const third = await place.serve();
  expect((await fetch(`${third.url}/readyz`)).status).toBe(200);
});

test("a port that is taken gives exit code 1 and says how to choose another", async () => {
  const place = makeWorkplace();
  const first = await place.serve();
  const port = new URL(first.url).port;
  const second = await place.run(["serve", "--port", port, "--db", place.path("other.db")]);
  expect(second.code).toBe(1);
  expect(second.err).toMatch(/taken.*--port/);
  expect(second.out).not.toContain("server.listening");
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
});

test("text from submitters cannot steer a terminal, and in JSON it is escaped", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve();
  const hostile = "a\u001b[2Jb\u0007c\u009bd\u202ee\r\nf\u2066g";
  const sent = await post(server.url, keys.secret, { ...examplePost, name: hostile }, { "user-agent": "x" });
  const id = await submissionId(sent);
  const safe = /^[\n\u0020-\u007e\u00a0-\u200d\u2010-\u2029\u202f-\u2065\u206a-\uffff]*$/;
  for (const args of [
    ["submission", "list"],
    ["submission", "show", id],
    ["submission", "tail"],
  ]) {
    const { out } = await place.run(args);
    expect(out).toMatch(safe);
    const json = await place.run([...args, "--json"]);
    expect(json.out).toMatch(safe);
    expect(json.out).toContain("\\u001b[2Jb\\u0007c\\u009bd\\u202ee\\r\\nf\\u2066g");
  }
  expect(await place.json<{ data: unknown }>(["submission", "show", id])).toMatchObject({
    data: { name: hostile },
  });
});

/** A client process of its own: posts `count` times, 8 at once, and prints the statuses. */
const CLIENT = `
  const [url, key, count] = process.argv.slice(1);
  let left = Number(count);
  const statuses = [];
  const body = ${JSON.stringify(JSON.stringify(examplePost))};
  const headers = { authorization: "Bearer " + key, "content-type": "application/json" };
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (left-- > 0) statuses.push((await fetch(url + "/submit", { method: "POST", headers, body })).status);
  }));
  console.log(JSON.stringify(statuses));
`;

async function postFromProcess(place: Workplace, url: string, key: string, count: number): Promise<number[]> {
  const args = ["--input-type=module", "-e", CLIENT, url, key, String(count)];
  const child = spawn(process.execPath, args, { cwd: place.folder });
  const { code, out, err } = await collect(child);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out) as number[];
}

test("posts from several client processes at the limit's edge are accepted exactly up to it", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const env = { ...UNLIMITED, FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "100" };
  const server = await place.serve([], { env });
  const answers = await Promise.all(
    [keys.secret, keys.publishable, keys.secret, keys.publishable].map((key) =>
      postFromProcess(place, server.url, key, 60),
    ),
  );
  const statuses = answers.flat();
  expect(statuses).toHaveLength(240);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(await place.json(["workspace", "usage"], { env })).toMatchObject({
    used: 100,
    limit: 100,
    remaining: 0,
  });
  const stored = await place.json<{ data: unknown[] }>(["submission", "list", "--limit", "1000"]);
  expect(stored.data).toHaveLength(100);
});

test("the log is JSON lines, and no key is in it, in the database or in any other file", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve([], { env: { ...UNLIMITED, FORMSVC_LOG_LEVEL: "trace" } });
  const { secret, publishable } = keys;
  await post(server.url, secret);
  await post(server.url, publishable);
  await post(server.url, secret, examplePost, { origin: "https://a.example" });
  await post(server.url, `${secret.slice(0, -1)}!`, examplePost);
  await post(
    server.url,
    secret,
    { name: secret },
    { "x-request-id": secret, "idempotency-key": publishable },
  );
  for (const path of [`/f/${publishable}`, `/${secret}?key=${secret}`, `/submit?key=${publishable}`])
    await fetch(`${server.url}${path}`);
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);

  const lines = server.log().trim().split("\n");
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) as unknown });
  const files = readdirSync(place.folder).map((name) => readFileSync(place.path(name), "latin1"));
  // What a key has after the 12 characters that it is looked up by.
  for (const random of [secret.slice(16), publishable.slice(16)]) {
    expect(server.log() + server.err()).not.toContain(random);
    for (const content of files) expect(content).not.toContain(random);
  }
});

test("a server goes on when nobody reads its log any more", async () => {
  const place = makeWorkplace();
  const keys = await place.createEndpoint();
  const server = await place.serve([], { env: UNLIMITED });
  server.child.stdout?.destroy();
  for (let round = 0; round < 50; round += 1) expect((await post(server.url, keys.secret)).status).toBe(200);
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(existsSync(`${place.database}-wal`)).toBe(false);
});
