import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";

test("spam explain for an endpoint prints the arithmetic that its server uses", async () => {
  const machine = operatorMachine();
  const text = { type: "string" } as const;
  const endpoint = await machine.createEndpoint({
    schema: { message: { ...text, required: true }, _topic: text },
  });
  await machine.mustRun(["endpoint", "set", endpoint.id, "--honeypot", "website"]);
  const server = await machine.serveHere();
  const scoreAtServer = async (body: string) => {
    const headers = { authorization: `Bearer ${endpoint.secret}`, "content-type": "application/json" };
    const { status } = await fetch(`${server.url}/submit`, { method: "POST", headers, body });
    const noun = status === 429 ? "held" : "submission";
    const list = (await machine.mustRun([noun, "list", "--limit", "1", "--json"])).json();
    const [newest] = (list as { data: { spam_score: number; spam_reasons: unknown }[] }).data;
    return { score: newest?.spam_score, reasons: newest?.spam_reasons };
  };
  const pitch = "We offer SEO and backlinks for your website: https://bit.ly/abc";
  const message = "Are you open on Sunday?";
  const posts = [
    { message, website: "http://x.y" },
    { message, _gotcha: "zzz" },
    { message, botcheck: "zzz" },
    { message, dropped: pitch },
    { message, _topic: pitch },
    { message: pitch, _elapsed_ms: "900" },
  ];
  for (const post of posts) {
    const body = JSON.stringify(post);
    const explained = await machine.mustRun(["spam", "explain", "-", "--endpoint", endpoint.id, "--json"], {
      input: body,
    });
    const { score, reasons } = explained.json() as { score: number; reasons: unknown };
    expect({ score, reasons }, body).toEqual(await scoreAtServer(body));
  }
});

test("spam explain names the fields for which the schema refuses the post", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: { message: { type: "string", required: true } } });
  const explain = ["spam", "explain", "-", "--endpoint", endpoint.id];
  expect((await machine.mustRun(explain, { input: '{"message":7}' })).stderr).toContain(
    "does not match the schema (message)",
  );
  expect((await machine.mustRun(explain, { input: '{"message":7,"_gotcha":"x"}' })).stderr).toBe("");
  expect((await machine.mustRun(explain, { input: '{"message":"hello"}' })).stderr).toBe("");
});

test("a score stored by an earlier version is explained as it was, and a dry run scores its post anew", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: { message: { type: "string" } } });
  const server = await machine.serveHere();
  const headers = { authorization: `Bearer ${endpoint.secret}`, "content-type": "application/json" };
  const body = JSON.stringify({ message: "Are you open on Sunday? We are four people." });
  const answer = await fetch(`${server.url}/submit`, { method: "POST", headers, body });
  const { submission_id: id } = (await answer.json()) as { submission_id: string };
  await server.stop();
  expect((await machine.mustRun(["spam", "explain", id])).stderr).toBe("");
  const reasons = JSON.stringify([{ signal: "text", points: 33, field: null, detail: "worded like spam" }]);
  machine
    .open()
    .prepare("UPDATE submission SET spam_score = 33, spam_reasons = ?, spam_version = 1")
    .run(reasons);

  const explained = await machine.mustRun(["spam", "explain", id]);
  expect(explained.stdout).toContain("+33");
  expect(explained.stderr).toContain("version 1 of the filter gave this score");
  await machine.mustRun(["workspace", "set-plan", "owner", "pro"]);
  const dryRun = ["spam", "set", "--keyword", "sunday=40", "--dry-run", "--json"];
  expect((await machine.mustRun(dryRun)).json()).toMatchObject({
    posts: 1,
    changes: [{ id, before: { score: 0 }, after: { score: 40 } }],
  });
});

test("spam eval refuses what a server would refuse before it scores it, with the line", async () => {
  const machine = operatorMachine();
  const row = (data: string): string => `{"id":"1","source":"a","label":"ham","data":${data}}`;
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  machine.write("rows.jsonl", `${row('{"a":"hello"}')}\n${row(deep)}\n`);
  const ran = await machine.run(["spam", "eval", "rows.jsonl"]);
  expect([ran.code, ran.stderr]).toEqual([
    2,
    "formsvc: rows.jsonl: line 2: data nests deeper than 32 levels\n",
  ]);
});
