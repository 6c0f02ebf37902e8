import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { collect } from "../support/program.ts";
import { until } from "../support/until.ts";

/** Longest time for a change to take effect; the best of several tries must meet it, because noise only adds. */
const ONE_SECOND_MS = 1000;
const TRIES = 5;

interface Served {
  readonly url: string;
}

/** A plan with this number of submissions a month. */
const planOf = (monthlySubmissions: number | null) => ({
  monthlySubmissions,
  endpoints: null,
  customSpam: true,
});

const submissionId = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { submission_id: string }).submission_id;

const servedId = (server: Served, key: string): Promise<string> =>
  tryPost(server.url, key).then(submissionId);

/** Posts from `clients` loops at once until `stop` is called; the statuses that came back. */
function load(server: Served, key: string, clients: number): { stop: () => Promise<number[]> } {
  const statuses: number[] = [];
  const stopping = new AbortController();
  const loops = Array.from({ length: clients }, async () => {
    while (!stopping.signal.aborted) {
      const answer = await tryPost(server.url, key);
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
  const machine = operatorMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const first = await servedId(server, keys.secret);
  const tail = machine.start(["submission", "tail", "--follow", "--json", "--endpoint", "Contact"]);
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
  const machine = operatorMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const ids = [await servedId(server, keys.secret), await servedId(server, keys.secret)];
  const tail = machine.start(["submission", "tail", "--follow", "--json", "--cursor", ids[0]!]);
  let out = "";
  tail.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  await until(() => out.includes(ids[1]!));
  ids.push(await servedId(server, keys.secret));
  await until(() => out.includes(ids[2]!));
  expect(out.match(/(?<="id":")sub_\w+/g)).toEqual(ids.slice(1));
});

test("tail --follow ends quietly when its reader does", async () => {
  const machine = operatorMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const tail = machine.start(["submission", "tail", "--follow"]);
  const ended = collect(tail);
  await servedId(server, keys.secret);
  await until(() => tail.stdout!.readableFlowing === true && tail.exitCode === null);
  tail.stdout!.destroy();
  await until(async () => {
    await servedId(server, keys.secret);
    return tail.exitCode !== null;
  });
  expect((await ended).stderr).toBe("");
  expect(tail.exitCode).toBe(0);
});

test("a running server refuses a revoked key within a second and takes a rotated key's successor", async () => {
  const machine = operatorMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const delays: number[] = [];
  for (let round = 0; round < TRIES; round += 1) {
    const issued = await machine.json<{ key: { id: string }; secret: string }>([
      "key",
      "issue",
      keys.id,
      "--kind",
      "secret",
    ]);
    expect((await tryPost(server.url, issued.secret)).status).toBe(200);
    expect((await machine.run(["key", "revoke", issued.key.id])).code).toBe(0);
    const revokedAt = performance.now();
    await until(async () => (await tryPost(server.url, issued.secret)).status === 401);
    delays.push(performance.now() - revokedAt);
  }
  expect(Math.min(...delays)).toBeLessThan(ONE_SECOND_MS);
  const [old] = (await machine.json<{ data: { id: string }[] }>(["key", "list", keys.id])).data;
  const next = await machine.json<{ secret: string }>(["key", "rotate", old!.id]);
  expect((await tryPost(server.url, next.secret)).status).toBe(200);
  await until(async () => (await tryPost(server.url, keys.secret)).status === 401);
});

test("a running server follows a pause, a new schema and a new plan", async () => {
  const machine = operatorMachine({ plans: { hobby: planOf(1), pro: planOf(null) } });
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const status = async (): Promise<number> => (await tryPost(server.url, keys.secret)).status;
  expect(await status()).toBe(200);
  expect(await status()).toBe(429);
  await machine.run(["workspace", "set-plan", "owner", "pro"]);
  await until(async () => (await status()) === 200);
  await machine.run(["endpoint", "pause", "Contact"]);
  await until(async () => (await status()) === 403);
  await machine.run(["endpoint", "resume", "Contact"]);
  await until(async () => (await status()) === 200);
  await machine.run(["schema", "set", "Contact", "-"], {
    input: '{"city":{"type":"string","required":true}}',
  });
  await until(async () => (await status()) === 400);
  await machine.run(["endpoint", "delete", "Contact", "--yes"]);
  await until(async () => (await status()) === 401);
});

test("commands write while the server stores posts at full speed, and neither sees an error", async () => {
  const machine = operatorMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve();
  expect((await tryPost(server.url, keys.secret)).status).toBe(200);
  const posts = load(server, keys.secret, 16);
  for (let round = 0; round < 3; round += 1) {
    for (const args of [
      ["account", "create", `person${round}@example.com`],
      ["endpoint", "rename", keys.id, `Name ${round}`],
      ["key", "issue", keys.id, "--kind", "publishable"],
      ["endpoint", "set", keys.id, "--unknown-fields", round % 2 === 0 ? "keep" : "drop"],
    ]) {
      const ran = await machine.run(args);
      expect({ args, code: ran.code, stderr: ran.stderr.includes("busy") }).toEqual({
        args,
        code: 0,
        stderr: false,
      });
    }
  }
  const statuses = await posts.stop();
  expect(new Set(statuses)).toEqual(new Set([200]));
  const usage = await machine.json<{ used: number }>(["workspace", "usage", "owner"]);
  expect(usage.used).toBe(statuses.length + 1);
});

test("text from submitters cannot steer a terminal, and in JSON it is escaped", async () => {
  const machine = operatorMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const hostile = "a\u001b[2Jb\u0007c\u009bd\u202ee\r\nf\u2066g";
  const sent = await tryPost(
    server.url,
    keys.secret,
    { ...examplePost, name: hostile },
    { "user-agent": "x" },
  );
  const id = await submissionId(sent);
  const safe = /^[\n\u0020-\u007e\u00a0-\u200d\u2010-\u2029\u202f-\u2065\u206a-\uffff]*$/;
  for (const args of [
    ["submission", "list"],
    ["submission", "show", id],
    ["submission", "tail"],
  ]) {
    const { stdout } = await machine.run(args);
    expect(stdout).toMatch(safe);
    const json = await machine.run([...args, "--json"]);
    expect(json.stdout).toMatch(safe);
    expect(json.stdout).toContain("\\u001b[2Jb\\u0007c\\u009bd\\u202ee\\r\\nf\\u2066g");
  }
  expect(await machine.json<{ data: unknown }>(["submission", "show", id])).toMatchObject({
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

async function postFromProcess(
  machine: OperatorMachine,
  url: string,
  key: string,
  count: number,
): Promise<number[]> {
  const args = ["--input-type=module", "-e", CLIENT, url, key, String(count)];
  const child = spawn(process.execPath, args, { cwd: machine.folder });
  const { code, stdout, stderr } = await collect(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as number[];
}

test("posts from several client processes at the limit's edge are accepted exactly up to it", async () => {
  const machine = operatorMachine({ plans: { hobby: planOf(100) } });
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const answers = await Promise.all(
    [keys.secret, keys.publishable, keys.secret, keys.publishable].map((key) =>
      postFromProcess(machine, server.url, key, 60),
    ),
  );
  const statuses = answers.flat();
  expect(statuses).toHaveLength(240);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(await machine.json(["workspace", "usage"])).toMatchObject({
    used: 100,
    limit: 100,
    remaining: 0,
  });
  const stored = await machine.json<{ data: unknown[] }>(["submission", "list", "--limit", "1000"]);
  expect(stored.data).toHaveLength(100);
});
