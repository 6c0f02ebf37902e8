import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { writeChoicesRow } from "../../src/endpoints/spam-choices-store.ts";
import { setAutoReply } from "../support/auto-replies.ts";
import { listDeliveries } from "../../src/outbox/queue/delivery-store.ts";
import { REPLY_KIND } from "../../src/outbox/queue/recipient.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { wordingIn } from "../../src/languages/wording.ts";
import { readMail } from "../support/read-mail.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import {
  type ConfigOverrides,
  type EndpointOverrides,
  goodPost,
  startServer,
  type TestServer,
} from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { deleteSubmissionRows, getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { makeFolder } from "../support/temporary-folder.ts";
import { importFrom, makeEndpoint, releasePost } from "../support/terminal.ts";

/** A server that sends mail, and an endpoint whose automatic reply is on. */
async function begin(
  { mail: chosen = {}, ...overrides }: ConfigOverrides = {},
  made: EndpointOverrides = {},
) {
  const mail = await startMailServer();
  const from = { host: "127.0.0.1", port: mail.port, from: "forms@example.com" };
  const server = await startServer({ mail: { ...from, ...chosen }, ...overrides });
  const endpoint = await server.addEndpoint(made);
  await turnOn(server, endpoint.id);
  return { mail, server, endpoint };
}

async function turnOn({ owner, clock }: TestServer, id: string): Promise<void> {
  const endpoint = owner.now(() => getEndpoint(id));
  await setAutoReply(owner, { endpoint, change: {} }, clock.now());
}

/** Automatic replies that were ever queued. It is decided before a post is answered. */
function countReplies({ owner }: TestServer): number {
  const filter = { recipientId: null, submissionId: null, state: null, cursor: null, limit: 100 };
  return owner.now(() => listDeliveries({ ...filter, kinds: [REPLY_KIND] })).deliveries.length;
}

test("a post that is accepted is replied to, and an address gets one reply a day, also across a restart", async () => {
  const { mail, server, endpoint } = await begin();
  const { status, json } = await server.post(endpoint.secret, goodPost);
  expect(status).toBe(200);
  const [reply] = await until(() => mail.received.length > 0 && mail.received);
  expect(reply?.to).toEqual(["ana@example.org"]);
  expect(reply?.raw.toString()).toContain(String(json["submission_id"]));
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
  await server.restart();
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
  expect(countReplies(server)).toBe(1);
  const other = await server.addEndpoint();
  await turnOn(server, other.id);
  expect((await server.post(other.secret, goodPost)).status).toBe(200);
  expect(countReplies(server)).toBe(1);
});

test("whoever posts is answered in the language of _language, else the endpoint's, else the browser's", async () => {
  const { mail, server, endpoint } = await begin();
  let count = 0;
  const next = () => {
    count += 1;
    return { email: `ana${count}@example.org`, name: "Ana", message: `Question number ${count}, please.` };
  };
  const submit = async (
    named: object,
    headers: Record<string, string> = {},
    to = endpoint,
  ): Promise<void> => {
    const from = { "x-submitter-ip": `10.0.${count}.1`, ...headers };
    expect((await server.post(to.secret, { ...next(), ...named }, from)).status).toBe(200);
  };
  await submit({ _language: "de-AT" }, { "accept-language": "fr" });
  await submit({ _language: "x".repeat(10_000) }, { "accept-language": "fr" });
  await submit({ _language: ["de"] });
  const form = new URLSearchParams({ ...next(), _language: "ar" }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const path = `/f/${endpoint.publishable}`;
  expect((await server.request({ method: "POST", path, headers, body: form })).status).toBe(200);
  await until(() => mail.received.length === 4);
  const italian = await server.addEndpoint();
  await turnOn(server, italian.id);
  server.owner.prepare("UPDATE endpoint SET language = 'it' WHERE id = ?").run(italian.id);
  await submit({}, { "accept-language": "fr" }, italian);
  await submit({ _language: "pl" }, {}, italian);
  await until(() => mail.received.length === 6);
  const told = new Map(mail.received.map(({ to, raw }) => [to[0], readMail(raw)]));
  const languages = ["de", "fr", "en", "ar", "it", "pl"] as const;
  for (const [index, language] of languages.entries()) {
    const letter = told.get(`ana${index + 1}@example.org`);
    expect(letter?.text).toContain(wordingIn(language).text("replyText"));
    expect(letter?.html).toContain(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`);
  }
});

test("a repeated Idempotency-Key gets no second reply", async () => {
  const { server, endpoint } = await begin();
  const headers = { "idempotency-key": "once" };
  for (let n = 0; n < 2; n += 1)
    expect((await server.post(endpoint.secret, goodPost, headers)).status).toBe(200);
  expect(countReplies(server)).toBe(1);
});

test("posts that are refused get none: a filled honeypot, another page's, one that does not match, one too many", async () => {
  const { server, endpoint } = await begin(
    { plans: { small: { monthlySubmissions: 1, endpoints: null, customSpam: true } } },
    { plan: "small", settings: { allowedOrigins: ["https://example.com"] } },
  );
  const { publishable, secret } = endpoint;
  const from = (origin: string) => ({ origin });
  expect((await server.post(publishable, goodPost, from("https://evil.example"))).status).toBe(403);
  expect((await server.post(publishable, goodPost)).status).toBe(403);
  expect((await server.post(secret, { ...goodPost, _gotcha: "x" })).status).toBe(429);
  expect((await server.post(secret, { ...goodPost, email: "no address" })).status).toBe(400);
  expect(countReplies(server)).toBe(0);
  expect((await server.post(publishable, goodPost, from("https://example.com"))).status).toBe(200);
  expect(countReplies(server)).toBe(1);
  expect((await server.post(secret, { ...goodPost, email: "bob@example.org" })).status).toBe(429);
  expect(countReplies(server)).toBe(1);
});

test("a field that the browser filled into the honeypot is a honeypot: the post is stored, and gets no reply", async () => {
  const { server, endpoint } = await begin(
    { plans: { own: { monthlySubmissions: null, endpoints: null, customSpam: true } } },
    { plan: "own" },
  );
  // So that the score alone would allow it.
  const choices = { keywords: [{ word: "sunday", effect: -50 }] };
  const { owner } = server;
  const scope = { kind: "endpoint", workspaceId: endpoint.workspaceId, endpointId: endpoint.id } as const;
  owner.now(() => writeChoicesRow(scope, choices));
  const filled = await server.post(endpoint.secret, { ...goodPost, _gotcha: goodPost.email });
  expect(filled.status).toBe(200);
  const scores = owner.prepare("SELECT spam_score FROM submission").pluck();
  expect(Number(scores.get())).toBeLessThanOrEqual(25);
  expect(countReplies(server)).toBe(0);
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
  expect(countReplies(server)).toBe(1);
});

test("the network is the client's that a backend names, whole, although less of it is stored", async () => {
  const { server, endpoint } = await begin({}, { settings: { storeAddress: "none" } });
  const post = async (n: number, ip: string): Promise<void> => {
    const data = { ...goodPost, email: `ana${n}@example.org`, message: `Question number ${n}, please.` };
    expect((await server.post(endpoint.secret, data, { "x-submitter-ip": ip })).status).toBe(200);
  };
  for (let n = 0; n < 4; n += 1) await post(n, "192.0.2.1");
  expect(countReplies(server)).toBe(3);
  await post(4, "198.51.100.1");
  expect(countReplies(server)).toBe(4);
});

test("what is over the workspace's limit, or that of all where people sign up, is stored and gets no reply", async () => {
  const limits = { repliesPerWorkspacePerHour: 2, repliesPerHour: 1 };
  const baseUrl = "https://forms.example.com";
  for (const signUp of ["closed", "open"] as const) {
    const { server, endpoint } = await begin({
      mail: { limits },
      dashboard: { signUp },
      server: { port: 0, baseUrl },
    });
    const made = server.owner.now(() => insertAccountRows("ben@example.org", server.clock.now()));
    const own = { name: "His", definition: exampleSchema, settings: defaultEndpointSettings };
    const options = { workspace: made.workspace.id, plans: server.config.plans, now: server.clock.now() };
    const his = await makeEndpoint(server.owner, own, options);
    await turnOn(server, his.endpoint.id);
    const post = async (key: string, n: number): Promise<void> => {
      const data = { ...goodPost, email: `ana${n}@example.org`, message: `Question number ${n}, please.` };
      const headers = { "x-submitter-ip": `10.0.${n}.1` };
      expect((await server.post(key, data, headers)).status).toBe(200);
    };
    for (let n = 0; n < 3; n += 1) await post(his.secret.text, n);
    expect(countReplies(server), signUp).toBe(signUp === "open" ? 1 : 2);
    for (let n = 3; n < 6; n += 1) await post(endpoint.secret, n);
    expect(countReplies(server), signUp).toBe(signUp === "open" ? 3 : 4);
    expect(server.stored()).toHaveLength(6);
  }
});

test("a held post that is released, and a submission that is imported, get none", async () => {
  const { server, endpoint } = await begin();
  const { owner, clock, config } = server;
  expect((await server.post(endpoint.secret, { ...goodPost, _gotcha: "x" })).status).toBe(429);
  const heldId = await until(() => owner.prepare("SELECT id FROM held").pluck().get() as string | undefined);
  const released = await releasePost({ db: owner, plans: config.plans }, heldId, clock.now());
  expect(released.spamScore).toBe(0);
  const folder = makeFolder();
  const file = join(folder.path, "export.ndjson");
  const line = submissionJson(owner.now(() => getSubmission(released.id)));
  writeFileSync(file, `${JSON.stringify(line)}\n`);
  owner.now(() => deleteSubmissionRows([released.id]));
  await importFrom(owner, file, endpoint.id);
  folder.remove();
  expect(server.stored()).toMatchObject([{ email: goodPost.email }]);
  expect(countReplies(server)).toBe(0);
});

test("without a mail server nobody gets a reply, later neither", async () => {
  const server = await startServer();
  const endpoint = await server.addEndpoint();
  await turnOn(server, endpoint.id);
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
  expect(countReplies(server)).toBe(0);
  expect(server.owner.prepare("SELECT 1 FROM quota_use").get()).toBeUndefined();
});
