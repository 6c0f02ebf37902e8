import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import SqliteDatabase from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isAtDistance } from "../support/distance.ts";
import { describeHint } from "../../src/cli/output/hints.ts";
import { newSecret, secretKey, signMessage } from "../../src/webhooks/sign.ts";
import { post } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { makeMachine, operatorMachine } from "../support/operator-machine.ts";
import { verifyWithOfficial } from "../support/webhook-world.ts";

interface CreatedWebhook {
  readonly webhook: { readonly id: string; readonly endpoint_id: string; readonly url: string };
  readonly secret: string;
}

const machine = makeMachine();

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({ schema: { name: { type: "string" } } });
});

afterAll(() => machine.remove());

function create(url: string, ...options: string[]): Promise<CreatedWebhook> {
  return machine.json(["webhook", "create", "--endpoint", "Contact", "--url", url, ...options]);
}

test("create prints the webhook and its secret once; list and show never print the secret again", async () => {
  const made = await create("https://EXAMPLE.com/hook#x", "--header", "Authorization: Bearer hidden");
  expect(made.webhook).toMatchObject({ url: "https://example.com/hook", enabled: true });
  expect(made.webhook.id).toMatch(/^wh_[0-9a-z]{26}$/);
  expect(made.webhook.endpoint_id).toMatch(/^ep_/);
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  for (const args of [["list"], ["show", made.webhook.id], ["show", made.webhook.id, "--json"]]) {
    const { stdout, stderr, code } = await machine.run(["webhook", ...args]);
    expect(code).toBe(0);
    expect(stdout + stderr).toContain(made.webhook.id);
    expect(stdout + stderr).not.toMatch(/whsec_|hidden/);
  }
});

test("a webhook that tells a chat has no secret, and its address is shown shortened", async () => {
  const made = await create("https://hooks.slack.com/services/T0/B0/hiddenABCD", "--format", "slack");
  expect(made.secret).toBeNull();
  expect(made.webhook).toMatchObject({ format: "slack", url: "https://hooks.slack.com/…ABCD" });
  for (const args of [["list"], ["show", made.webhook.id]]) {
    const { stdout } = await machine.run(["webhook", ...args]);
    expect(stdout).toContain("hooks.slack.com/…ABCD");
    expect(stdout).not.toContain("hidden");
  }
  const rotated = await machine.run(["webhook", "rotate-secret", made.webhook.id]);
  expect([rotated.code, rotated.stderr]).toEqual([2, expect.stringContaining("its address is the secret")]);
});

test("an address that the chat's service cannot have is refused, and nothing is made", async () => {
  const args = ["webhook", "create", "--endpoint", "Contact", "--format"];
  const telegram = await machine.run([
    ...args,
    "telegram",
    "--url",
    "https://api.telegram.org/bot1:a/sendMessage",
  ]);
  expect([telegram.code, telegram.stderr]).toEqual([2, expect.stringContaining("chat_id=<CHAT>")]);
  expect((await machine.run([...args, "skype", "--url", "https://a.example/"])).code).toBe(2);
  expect((await machine.run(["webhook", "list"])).stdout).not.toContain("telegram");
});

test("create says at once that an address is refused and how to allow it", async () => {
  const args = ["webhook", "create", "--endpoint", "Contact", "--url"];
  const loopback = await machine.run([...args, "http://127.0.0.1:9/"]);
  expect(loopback.stderr).toMatch(
    /127\.0\.0\.1 is a loopback address.*--allow-private.*webhooks\.allowNetworks/,
  );
  const metadata = await machine.run([...args, "http://169.254.169.254/", "--allow-private"]);
  expect(metadata.stderr).toMatch(/link-local address.*exact address/);
  const allowed = await machine.run([...args, "http://127.0.0.1:9/", "--allow-private"]);
  expect(allowed.stderr).not.toMatch(/nothing will be sent/);
});

test("a webhook that was stopped, because its receiver is gone, is disabled by who asks for it", async () => {
  const { webhook } = await create("https://example.com/gone");
  const connection = new SqliteDatabase(machine.database);
  connection.prepare("UPDATE recipient SET state = 'stopped', gone_at = 1 WHERE id = ?").run(webhook.id);
  connection.close();
  const { webhook: disabled } = await machine.json<{ webhook: { state: string } }>([
    "webhook",
    "disable",
    webhook.id,
  ]);
  expect(disabled.state).toBe("disabled");
});

test("what cannot be a webhook is refused with exit code 2, what is not there with 3", async () => {
  const cases: [args: string[], code: number][] = [
    [["create", "--endpoint", "Contact", "--url", "ftp://example.com/"], 2],
    [["create", "--endpoint", "Contact", "--url", "https://a:b@example.com/"], 2],
    [["create", "--endpoint", "Contact", "--url", "https://example.com/", "--header", "Host: x"], 2],
    [["create", "--endpoint", "Contact", "--url", "https://example.com/", "--max-spam-score", "101"], 2],
    [["create", "--endpoint", "Nobody", "--url", "https://example.com/"], 3],
    [["show", "wh_none"], 3],
    [["enable", "wh_none"], 3],
    [["set", "wh_none", "--url", "https://example.com/"], 3],
    [["set", "wh_none"], 2],
    [["attempts", "msg_none"], 3],
    [["replay", "msg_none"], 3],
    [["replay"], 2],
    [["delete", "wh_none", "--yes"], 3],
    [["listen", "--secret", "nonsense"], 2],
  ];
  await Promise.all(
    cases.map(async ([args, code]) => {
      const result = await machine.run(["webhook", ...args]);
      expect(result.code, `${args.join(" ")}: ${result.stderr}`).toBe(code);
      expect(result.stderr).not.toBe("");
    }),
  );
});

test("set changes what is given and leaves the rest; enable, disable and delete do what they say", async () => {
  const { webhook } = await create(
    "https://example.com/",
    "--header",
    "X-Team: sales",
    "--max-spam-score",
    "50",
  );
  const changed = await machine.json(["webhook", "set", webhook.id, "--url", "https://example.org/"]);
  const rest = { headers: ["x-team"], max_spam_score: 50, allow_private: false };
  expect(changed).toMatchObject({ webhook: { url: "https://example.org/", ...rest } });
  const opened = await machine.json(["webhook", "set", webhook.id, "--allow-private", "--clear-headers"]);
  expect(opened).toMatchObject({ webhook: { headers: [], allow_private: true } });
  const closed = await machine.json(["webhook", "set", webhook.id, "--no-allow-private"]);
  expect(closed).toMatchObject({ webhook: { allow_private: false } });
  expect((await machine.run(["webhook", "set", webhook.id])).code).toBe(2);
  expect(await machine.json(["webhook", "disable", webhook.id])).toMatchObject({
    webhook: { enabled: false },
  });
  expect(await machine.json(["webhook", "enable", webhook.id])).toMatchObject({ webhook: { enabled: true } });
  expect((await machine.run(["webhook", "delete", webhook.id])).code).toBe(2);
  expect((await machine.run(["webhook", "delete", webhook.id, "--yes"])).code).toBe(0);
  expect((await machine.run(["webhook", "show", webhook.id])).code).toBe(3);
});

test.skipIf(isAtDistance)(
  "show says that webhooks.allowNetworks lets private addresses through",
  async () => {
    const own = operatorMachine();
    const { id } = await own.createEndpoint();
    const url = ["--endpoint", id, "--url", "http://127.0.0.1:9/"];
    const shown = async () => {
      const { webhook } = (
        await own.mustRun(["webhook", "create", ...url, "--json"])
      ).json() as CreatedWebhook;
      return (await own.mustRun(["webhook", "show", webhook.id])).stdout;
    };
    expect(await shown()).toMatch(/private addresses +refused\n/);
    own.configure({ webhooks: { allowNetworks: ["127.0.0.0/8"] } });
    expect(await shown()).toMatch(/private addresses +refused, but for what webhooks.allowNetworks lists\n/);
  },
);

test("a test sends one signed message now and tells what came of it", async () => {
  await using receiver = await startReceiverWith((response, _, index) => {
    response.writeHead(index === 0 ? 200 : 500).end("broken");
  });
  const { webhook, secret } = await create(receiver.url, "--allow-private");
  const good = await machine.json<{ id: string }>(["webhook", "test", webhook.id, "--data", "-"], {
    input: '{"name":"Ada"}',
  });
  expect(good).toMatchObject({ outcome: "delivered", status: 200, webhook_id: webhook.id });
  const [message] = receiver.received;
  verifyWithOfficial(secret, message!);
  expect(message!.headers["webhook-id"]).toBe(good.id);
  expect(JSON.parse(message!.body.toString())).toMatchObject({
    event: "submission.created",
    endpoint: { name: "Contact" },
    submission: { data: { name: "Ada" } },
  });
  const bad = await machine.run(["webhook", "test", webhook.id, "--json"]);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({ outcome: "refused_by_receiver", status: 500 });
});

test("the command that doctor names for a receiver that fails says why", async () => {
  await using receiver = await startReceiverWith((response) => response.writeHead(404).end());
  const { webhook } = await create(receiver.url, "--allow-private");
  const advice = describeHint({ kind: "look_at_webhook", webhookId: webhook.id });
  const [, command = ""] = /^formsvc (.*) says why/.exec(advice) ?? [];
  const { stdout } = await machine.run(command.split(" "));
  expect(stdout).toMatch(/^refused_by_receiver after .*404/);
});

test("rotate-secret prints a new secret; for a day both sign", async () => {
  await using receiver = await startReceiverWith((response) => response.end());
  const { webhook, secret } = await create(receiver.url, "--allow-private");
  const rotated = await machine.json<{ secret: string }>(["webhook", "rotate-secret", webhook.id]);
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(secret);
  await machine.run(["webhook", "test", webhook.id]);
  verifyWithOfficial(secret, receiver.received[0]!);
  verifyWithOfficial(rotated.secret, receiver.received[0]!);
});

test("headers come from standard input or a file as well, and a line that is none is not repeated in the message", async () => {
  const sales = join(machine.folder, "headers.txt");
  writeFileSync(sales, "X-Team: sales\r\n\nAuthorization: Bearer from-a-file\n");
  await using receiver = await startReceiverWith((response) => response.end());
  const args = ["webhook", "create", "--endpoint", "Contact", "--url", receiver.url, "--allow-private"];
  const { webhook } = await machine.json<CreatedWebhook>([...args, "--header-file", sales]);
  await machine.run(["webhook", "test", webhook.id]);
  const set = ["webhook", "set", webhook.id, "--header", "x-a: b", "--header-file", "-"];
  expect(await machine.json(set, { input: "Authorization: Bearer from-stdin\n" })).toMatchObject({
    webhook: { headers: ["x-a", "authorization"] },
  });
  await machine.run(["webhook", "test", webhook.id]);
  const [first, second] = receiver.received.map(({ headers }) => headers);
  expect(first).toMatchObject({ "x-team": "sales", authorization: "Bearer from-a-file" });
  expect(second).toMatchObject({ "x-a": "b", authorization: "Bearer from-stdin" });
  expect(second).not.toHaveProperty("x-team");
  const nameless = await machine.run(set, { input: "X-Team: sales\nBearer without-its-name\n" });
  expect(nameless.code).toBe(2);
  expect(nameless.stderr).toContain("number 3 is not");
  expect(nameless.stderr).not.toContain("without-its-name");
  const missing = await machine.run(["webhook", "set", webhook.id, "--header-file", "./none.txt"]);
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain("./none.txt: cannot be read");
});

test("verify judges a message from standard input without a database", async () => {
  const [secret, other] = [newSecret(), newSecret()];
  const body = '\uFEFF{"name":"Ada"}';
  const message = { id: "msg_1", timestamp: "1790000000", body: Buffer.from(body) };
  const signature = signMessage(message, [secretKey(secret)]);
  const given = [
    "--id",
    message.id,
    "--timestamp",
    message.timestamp,
    "--signature",
    signature,
    "--any-time",
  ];
  const verify = (...args: string[]) =>
    machine.run(["webhook", "verify", "--json", "--db", "/nowhere/x.db", ...args], { input: body });
  const good = await verify("--secret", other, "--secret", secret, ...given);
  expect(JSON.parse(good.stdout)).toEqual({ valid: true, problem: null });
  const file = machine.write("secret.txt", `${other}\n${secret}\n`);
  expect((await verify("--secret-file", file, ...given)).code).toBe(0);
  for (const none of [[], ["--secret-file", "-"]]) expect((await verify(...none, ...given)).code).toBe(2);
  const foreign = await verify("--secret", other, ...given);
  expect(foreign.code).toBe(1);
  expect(JSON.parse(foreign.stdout)).toMatchObject({
    valid: false,
    problem: expect.stringMatching(/no signature/) as string,
  });
  const old = await verify("--secret", secret, ...given.slice(0, -1));
  expect(JSON.parse(old.stdout)).toMatchObject({
    valid: false,
    problem: expect.stringMatching(/seconds/) as string,
  });
});

test("listen verifies what arrives, misbehaves as often as told, and the story can be read afterwards", async () => {
  const made = await create("http://127.0.0.1:1/", "--allow-private");
  const options = ["--port", "0", "--secret-file", "-", "--answer", "error", "--times", "1", "--json"];
  const child = machine.start(["webhook", "listen", ...options], { input: `${made.secret}\n` });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> =>
    JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  const { listening } = await next();
  await machine.json(["webhook", "set", made.webhook.id, "--url", String(listening)]);
  expect((await machine.run(["webhook", "test", made.webhook.id])).code).toBe(1);
  expect((await machine.run(["webhook", "test", made.webhook.id])).code).toBe(0);
  expect(await next()).toMatchObject({ verified: true, problem: null, status: 500 });
  expect(await next()).toMatchObject({ verified: true, problem: null, status: 204 });
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

test("deliveries, attempts and replay show and repeat what a server sent", async () => {
  await using receiver = await startReceiverWith((response, _, index) =>
    response.writeHead(index === 0 ? 404 : 200).end("no"),
  );
  const own = operatorMachine({ webhooks: { scheduleSeconds: [0.1] } });
  const { secret } = await own.createEndpoint({ schema: { name: { type: "string" } } });
  const args = ["webhook", "create", "--endpoint", "Contact", "--url", receiver.url, "--allow-private"];
  const { webhook } = await own.json<CreatedWebhook>(args);
  const server = await own.serveHere();
  const submissionId = await post(server.url, secret, { name: "Ada" });
  await expect.poll(() => receiver.received.length).toBe(2);
  await expect
    .poll(() => own.json(["webhook", "deliveries", "--submission", submissionId]))
    .toEqual({
      data: [
        {
          id: expect.stringMatching(/^msg_/) as string,
          webhook_id: webhook.id,
          submission_id: submissionId,
          state: "delivered",
          attempts: 2,
          attempts_spent: 1,
          next_attempt_at: null,
          last_status: 200,
        },
      ],
      next_cursor: null,
    });
  const { data } = await own.json<{ data: { id: string }[] }>(["webhook", "deliveries"]);
  const told = await own.json<{ data: unknown[] }>(["webhook", "attempts", data[0]!.id]);
  expect(told.data).toMatchObject([
    { number: 1, outcome: "refused_by_receiver", status: 404, answer: "no", probe: false },
    { number: 2, outcome: "delivered", status: 200, answer: null, message: null },
  ]);
  const dry = await own.json(["webhook", "replay", "--since", "1h", "--dry-run"]);
  expect(dry).toEqual({ matched: 1, replayed: 0 });
  expect(await own.json(["webhook", "replay", data[0]!.id])).toEqual({
    matched: 1,
    replayed: 1,
    id: data[0]!.id,
  });
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received[2]!.headers["webhook-id"]).toBe(data[0]!.id);
  // The outcome is recorded a moment after the receiver has answered.
  await expect
    .poll(() => own.json(["webhook", "deliveries", "--submission", submissionId]))
    .toMatchObject({ data: [{ state: "delivered" }] });
  const fresh = await own.json<{ id: string }>(["webhook", "replay", data[0]!.id, "--as-new"]);
  expect(fresh.id).not.toBe(data[0]!.id);
  expect(await own.json(["webhook", "replay", "--failed"])).toEqual({ matched: 0, replayed: 0 });
});
