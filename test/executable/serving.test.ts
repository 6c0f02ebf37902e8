import { closeSync, existsSync, openSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { until } from "../support/until.ts";

/** No limit but the plan's: these tests send more than a person would. */
const UNLIMITED = {
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_BAD_KEY_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
};

test("a second server on the same file exits 5 and names the first; a killed one does not block", async () => {
  const machine = emptyMachine();
  const first = await machine.serve();
  const second = await machine.run(["serve", "--port", "0"]);
  expect(second).toMatchObject({ code: 5, stdout: "" });
  expect(second.stderr).toContain(`by process ${first.process.pid}`);
  first.process.kill("SIGKILL");
  await first.ended;
  const third = await machine.serve();
  expect((await fetch(`${third.url}/readyz`)).status).toBe(200);
});

test("a port that is taken gives exit code 1 and says how to choose another", async () => {
  const machine = emptyMachine();
  const first = await machine.serveHere();
  const port = new URL(first.url).port;
  const second = await machine.run(["serve", "--port", port, "--db", machine.path("other.db")]);
  expect(second.code).toBe(1);
  expect(second.stderr).toMatch(/taken.*--port/);
  expect(second.stdout).not.toContain("server.listening");
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
});

test("the log is JSON lines, and no key is in it, in the database or in any other file", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: { ...UNLIMITED, FORMSVC_LOG_LEVEL: "trace" } });
  const { secret, publishable } = keys;
  await tryPost(server.url, secret);
  await tryPost(server.url, publishable);
  await tryPost(server.url, secret, examplePost, { origin: "https://a.example" });
  await tryPost(server.url, `${secret.slice(0, -1)}!`, examplePost);
  await tryPost(
    server.url,
    secret,
    { name: secret },
    { "x-request-id": secret, "idempotency-key": publishable },
  );
  for (const path of [`/f/${publishable}`, `/${secret}?key=${secret}`, `/submit?key=${publishable}`])
    await fetch(`${server.url}${path}`);
  server.process.kill("SIGTERM");
  expect(await server.ended).toBe(0);

  const lines = server.log().trim().split("\n");
  expect(lines.length).toBeGreaterThan(8);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) as unknown });
  const files = readdirSync(machine.folder).map((name) => readFileSync(machine.path(name), "latin1"));
  // What a key has after the 12 characters that it is looked up by.
  for (const random of [secret.slice(16), publishable.slice(16)]) {
    expect(server.log() + server.stderr()).not.toContain(random);
    for (const content of files) expect(content).not.toContain(random);
  }
});

test("a server goes on when nobody reads its log any more", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serve({ env: UNLIMITED });
  server.process.stdout?.destroy();
  for (let round = 0; round < 50; round += 1)
    expect((await tryPost(server.url, keys.secret)).status).toBe(200);
  server.process.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  expect(existsSync(`${machine.database}-wal`)).toBe(false);
});

test("a log file that was opened for appending may be copied and emptied while the server runs", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const file = machine.path("formsvc.log");
  const stdout = openSync(file, "a");
  const server = machine.start(["serve", "--port", "0"], { env: UNLIMITED, stdout });
  const logged = (): Record<string, unknown>[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const find = (event: string) => logged().find((line) => line["event"] === event);
  await until(() => find("server.listening"));
  const url = String(find("server.listening")?.["url"]);
  truncateSync(file);
  expect((await tryPost(url, keys.secret)).status).toBe(200);
  await until(() => find("request.answered"));
  expect(find("server.listening")).toBeUndefined();
  server.kill("SIGTERM");
  await until(() => find("server.stopped"));
  closeSync(stdout);
});
