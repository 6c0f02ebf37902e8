import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import { headerOf } from "../support/mail-world.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { post, tryPost } from "../support/posts.ts";
import { plainSettings, startMailServer, startScriptedServer } from "../support/smtp-servers.ts";
import { until } from "../support/until.ts";

const schema = { name: { type: "string" }, email: { type: "string", format: "email" } } as const;

async function machineWith(port: number, mail: Readonly<Record<string, unknown>> = {}) {
  const { host, from } = plainSettings(port);
  const machine = operatorMachine({ mail: { host, port, from, ...mail } });
  const { secret } = await machine.createEndpoint({ schema });
  const added = ["recipient", "add", "ada@example.org", "--endpoint", "Contact"];
  const { recipient } = await machine.json<{ recipient: { id: string } }>(added);
  return { machine, secret, recipient };
}

interface Deliveries {
  readonly data: readonly { readonly id: string; readonly state: string }[];
}

test("a post is mailed by the server, answered to the visitor, listed with its attempts, and replayed", async () => {
  const mailServer = await startMailServer();
  const { machine, secret, recipient } = await machineWith(mailServer.port);
  const server = await machine.serveHere();
  const submissionId = await post(server.url, secret, { name: "Eve", email: "eve@example.net" });
  await until(() => mailServer.received.length === 1);
  expect(headerOf(mailServer.received[0]!.raw, "Reply-To")).toBe("<eve@example.net>");
  const listed = ["mail", "deliveries", "--submission", submissionId];
  const isDelivered = async () =>
    (await machine.json<Deliveries>(listed)).data.find(({ state }) => state === "delivered");
  const delivery = await until(isDelivered);
  expect(delivery).toEqual({
    id: expect.stringMatching(/^msg_/) as string,
    recipient_id: recipient.id,
    kind: "notification",
    submission_id: submissionId,
    state: "delivered",
    attempts: 1,
    attempts_spent: 0,
    next_attempt_at: null,
    last_status: 250,
    summary_id: null,
    others: 0,
  });
  expect(headerOf(mailServer.received[0]!.raw, "Message-ID")).toBe(`<${delivery.id}@example.com>`);
  expect(await machine.json(["mail", "attempts", delivery.id])).toMatchObject({
    data: [{ number: 1, outcome: "delivered", status: 250, message: null, answer: "queued" }],
  });
  expect(await machine.json(["mail", "replay", delivery.id])).toMatchObject({ replayed: 1, id: delivery.id });
  await until(() => mailServer.received.length === 2);
  expect(mailServer.received[1]!.raw).toEqual(mailServer.received[0]!.raw);
  expect(await machine.json(["webhook", "deliveries"])).toMatchObject({ data: [] });
  expect((await machine.run(["webhook", "attempts", delivery.id])).code).toBe(3);
  expect((await machine.run(["webhook", "replay", delivery.id])).code).toBe(3);
  expect(await machine.json(["webhook", "replay", "--since", "1h", "--dry-run"])).toMatchObject({
    matched: 0,
  });
});

test("without a mail server messages wait and doctor says so; with one that refuses, attempts and doctor say why", async () => {
  const { machine, secret } = await machineWith(1, { host: null });
  const server = await machine.serveHere();
  await post(server.url, secret, { name: "Eve" });
  expect((await machine.json<Deliveries>(["mail", "deliveries"])).data).toMatchObject([{ state: "pending" }]);
  const problems = async () => {
    const { stdout } = await machine.run(["doctor", "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; message: string }[] };
    return checks.filter(({ name, ok }) => name.startsWith("mail.") && !ok);
  };
  expect(await problems()).toMatchObject([
    { name: "mail.server", message: "e-mail waits and there is no mail server" },
  ]);
  await server.stop();
  const scripted = await startScriptedServer({ MAIL: "550 5.7.1 not you" });
  const { host, port, from } = plainSettings(scripted.port);
  machine.configure({ mail: { host, port, from } });
  await machine.serveHere();
  // Before the first attempt, doctor finds the refusal by asking the mail server itself.
  await expect
    .poll(async () => (await problems()).map(({ message }) => message))
    .toContainEqual(
      expect.stringMatching(/^all e-mail waits since .*550 5\.7\.1 not you.*mail\.from/) as string,
    );
});

test("a held post is mailed when somebody releases it and not before, by itself", async () => {
  const mailServer = await startMailServer();
  const { machine, secret } = await machineWith(mailServer.port);
  const server = await machine.serveHere();
  const refused = await tryPost(server.url, secret, { name: "Robin", _gotcha: "x" });
  expect(refused.status).toBe(429);
  expect(await machine.json(["mail", "deliveries"])).toMatchObject({ data: [] });
  const held = await machine.json<{ data: { id: string }[] }>(["held", "list"]);
  const [{ id }] = held.data as [{ id: string }];
  const released = await machine.json<{ released: { submission: string }[] }>(["held", "release", id]);
  const [{ submission }] = released.released as [{ submission: string }];
  await until(() => mailServer.received.length === 1);
  const page = await until(async () => {
    const { data } = await machine.json<Deliveries>(["mail", "deliveries", "--submission", submission]);
    return data[0]?.state === "delivered" && data;
  });
  expect(page).toHaveLength(1);
  expect(mailServer.received).toHaveLength(1);
  expect(mailServer.received[0]!.raw.toString()).toContain("Robin");
});

test("a message that waits for a digest says that it is gathered, and when it goes", async () => {
  const { machine, secret, recipient } = await machineWith((await startMailServer()).port);
  await machine.mustRun(["recipient", "set", recipient.id, "--digest", "daily"]);
  const server = await machine.serveHere();
  await post(server.url, secret, { name: "Eve" });
  const id = await until(async () => {
    const { data } = await machine.json<{ data: { id: string; next_attempt_at: string }[] }>([
      "mail",
      "deliveries",
    ]);
    return data.find(({ next_attempt_at: at }) => Date.parse(at) > Date.now() + 3_600_000)?.id;
  });
  const { stderr } = await machine.run(["mail", "attempts", id]);
  expect(stderr).toMatch(/pending: gathered with others, which go as one at \d{4}-/);
});

test("messages that went in one summary say with how many others, and show its attempts", async () => {
  const mailServer = await startMailServer();
  const { machine, secret } = await machineWith(mailServer.port);
  const server = await machine.serveHere();
  for (let count = 0; count < 3; count += 1) await post(server.url, secret, { name: "Eve" });
  const delivered = ["mail", "deliveries", "--state", "delivered"];
  await until(() => mailServer.received.length === 3);
  const { data } = await until(async () => {
    const page = await machine.json<Deliveries>(delivered);
    return page.data.length === 3 && page;
  });
  await server.stop();
  const [member = "", , lead = ""] = data.map(({ id }) => id);
  const db = new SqliteDatabase(machine.database);
  db.exec(`UPDATE delivery SET lead_id = '${lead}' WHERE id > '${lead}'`);
  db.exec(`DELETE FROM attempt WHERE delivery_id > '${lead}'`);
  db.exec(`UPDATE delivery SET attempts = 0 WHERE id > '${lead}'`);
  db.close();
  const listed = (await machine.run(delivered)).stdout;
  expect(listed.match(/delivered +1 .*with 2 others/g)).toHaveLength(3);
  const { stdout, stderr } = await machine.run(["mail", "attempts", member]);
  expect(stdout).toContain("delivered");
  expect(stderr).toContain(`in the summary ${lead}, with 2 others`);
  const kinds = (await machine.json<{ data: { kind: string }[] }>(delivered)).data.map(({ kind }) => kind);
  expect(kinds).toEqual(["summary", "summary", "summary"]);
});

test("deliveries are listed by endpoint, each with its kind, letters of the server among them", async () => {
  const mailServer = await startMailServer();
  const { machine, secret, recipient } = await machineWith(mailServer.port);
  const other = await machine.createEndpoint({ name: "Other", schema });
  const daily = ["recipient", "add", "daily@example.org", "--endpoint", "Other", "--digest", "daily"];
  await machine.mustRun(daily);
  const server = await machine.serveHere();
  await post(server.url, secret, { name: "Eve" });
  await post(server.url, other.secret, { name: "Eve" });
  await until(() => mailServer.received.length === 1);
  await server.stop();
  const db = new SqliteDatabase(machine.database);
  const letters: [kind: string, recipientId: string | null, state: string, at: string][] = [
    ["security", null, "delivered", "1"],
    ["operator", null, "pending", "2"],
    ["confirmation", recipient.id, "failed", "3"],
  ];
  for (const [kind, recipientId, state, at] of letters)
    db.prepare(
      `INSERT INTO letter (id, kind, topic, address, recipient_id, content, state, attempts, due_at, last_attempt)
       VALUES (?, ?, ?, 'a@example.org', ?, '{}', ?, 1, 1, '{"number":1,"startedAt":1,"durationMs":2,"outcome":"deferred","status":450,"message":"later","answer":"later","isProbe":false}')`,
    ).run(`msg_0000000000000000000000000${at}`, kind, kind, recipientId, state);
  db.close();
  interface Listed {
    readonly data: { id: string; kind: string; recipient_id: string | null; submission_id: string | null }[];
    readonly next_cursor: string | null;
  }
  const list = (...flags: string[]) => machine.json<Listed>(["mail", "deliveries", ...flags]);
  const kindsOf = async (...flags: string[]) =>
    (await list(...flags)).data.map(({ kind }) => kind).toSorted();
  expect(await kindsOf()).toEqual(["confirmation", "digest", "notification", "operator", "operator"]);
  expect(await kindsOf("--endpoint", "Contact")).toEqual(["confirmation", "notification"]);
  expect(await kindsOf("--endpoint", "Other")).toEqual(["digest"]);
  expect(await kindsOf("--state", "failed")).toEqual(["confirmation"]);
  expect(await kindsOf("--recipient", recipient.id)).toEqual(["confirmation", "notification"]);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Listed = await list("--limit", "2", ...(cursor === null ? [] : ["--cursor", cursor]));
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
  expect(seen).toEqual(seen.toSorted().reverse());
  const letter = (await list("--state", "failed")).data[0];
  expect(letter).toMatchObject({ recipient_id: recipient.id, submission_id: null });
  expect(await machine.json(["mail", "attempts", letter?.id ?? ""])).toMatchObject({
    delivery: { kind: "confirmation", last_status: 450 },
    data: [{ number: 1, outcome: "deferred", answer: "later" }],
  });
  const replayed = await machine.run(["mail", "replay", letter?.id ?? ""]);
  expect([replayed.code, replayed.stderr]).toEqual([1, expect.stringContaining("is a letter of the server")]);
  expect((await machine.run(["mail", "deliveries", "--endpoint", "None"])).code).toBe(3);
});

test("a test for an endpoint looks as an e-mail about its submissions, and stores nothing", async () => {
  const mailServer = await startMailServer();
  const { machine } = await machineWith(mailServer.port);
  await machine.mustRun(["mail", "test", "team@example.org", "--endpoint", "Contact"]);
  const raw = mailServer.received[0]?.raw ?? Buffer.alloc(0);
  expect(headerOf(raw, "From")).toMatch(/Contact.* <forms@example\.com>$/);
  expect(headerOf(raw, "Subject")).toBe("New submission: Contact");
  expect(raw.toString()).toContain("This is a test: an invented submission");
  expect(await machine.json(["mail", "deliveries"])).toMatchObject({ data: [] });
  expect((await machine.run(["mail", "test", "a@example.org", "--endpoint", "None"])).code).toBe(3);
});

test("what is not there is told with exit code 3, wrong usage with 2", async () => {
  const { machine } = await machineWith(1);
  const cases: [args: string[], code: number][] = [
    [["deliveries", "--recipient", "rcpt_none"], 3],
    [["deliveries", "--submission", "sub_none"], 3],
    [["attempts", "msg_none"], 3],
    [["replay", "msg_none"], 3],
    [["replay"], 2],
    [["replay", "msg_none", "--failed"], 2],
    [["deliveries", "--webhook", "wh_none"], 2],
  ];
  await Promise.all(
    cases.map(async ([args, code]) => {
      const result = await machine.run(["mail", ...args]);
      expect(result.code, `${args.join(" ")}: ${result.stderr}`).toBe(code);
      expect(result.stderr).not.toBe("");
    }),
  );
});
