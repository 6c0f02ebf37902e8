import { expect, onTestFinished, test } from "vitest";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { REPLY_KIND } from "../../src/outbox/queue/recipient.ts";
import { parseConditions, writeConditions } from "../../src/outbox/queue/conditions.ts";
import { listDeliveries } from "../../src/outbox/queue/delivery-store.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { releaseHeld } from "../../src/submissions/held/held-operations.ts";
import { createFileLinks } from "../../src/files/file-links.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { setAutoReply } from "../support/auto-replies.ts";
import { readMail } from "../support/read-mail.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import { type Received, startReceiverWith } from "../support/receivers.ts";
import { EICAR, scriptedClamd } from "../support/scripted-clamd.ts";
import { performOn } from "../support/terminal.ts";
import { type ConfigOverrides, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import {
  applicationSchema,
  multipart,
  pdf,
  type PostedFacts,
  postFiles,
  storedFiles,
} from "../support/uploads.ts";

const CLEAN = pdf(600_000);
const INFECTED = Buffer.concat([pdf(300_000, "b"), Buffer.from(EICAR)]);
const WAIT_MS = 60_000;

interface Options {
  readonly whenUnscanned?: "keep" | "refuse";
  readonly config?: ConfigOverrides;
  readonly schema?: SchemaDefinition;
}

/** A form with a webhook, and a scanner that judges when the test says so. */
async function world({ whenUnscanned = "keep", config = {}, schema = applicationSchema }: Options = {}) {
  const receiver = await startReceiverWith((response) => void response.end());
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const clamd = await scriptedClamd();
  const gate = Promise.withResolvers<void>();
  clamd.before = () => gate.promise;
  const server = await startServer({
    ...config,
    files: { clamd: clamd.url, whenUnscanned, scanWaitMs: WAIT_MS },
    webhooks: { allowNetworks: ["127.0.0.1"] },
  });
  const endpoint = await server.addEndpoint({ schema });
  await server.owner.transaction(() => addWebhooks(endpoint.id, receiver.url, 1));
  const post = (...bodies: Buffer[]) =>
    postFiles(server, endpoint.secret, [
      ["name", "Ana"],
      ...bodies.map((bytes, index) => ["cv", { name: `cv-${index}.pdf`, bytes }] as const),
    ]);
  const read = (submission: string, file: string) =>
    server.request({
      method: "GET",
      path: `/submissions/${submission}/files/${file}`,
      headers: { authorization: `Bearer ${endpoint.secret}` },
    });
  const data = async (id: string): Promise<readonly PostedFacts[]> => {
    const answer = await server.request({
      method: "GET",
      path: `/submissions/${id}`,
      headers: { authorization: `Bearer ${endpoint.secret}` },
    });
    return (answer.json as { data: { cv: PostedFacts[] } }).data.cv;
  };
  const judged = (id: string) =>
    until(async () => (await data(id)).every(({ state }) => state !== "scanning") || undefined);
  return {
    server,
    endpoint,
    clamd,
    judge: gate.resolve,
    post,
    read,
    data,
    judged,
    received: receiver.received,
  };
}

interface LinkedData {
  readonly cv: readonly [{ readonly url: string }];
}

/** What a browser of a reader of this language gets. */
async function openIn(language: string, url: string) {
  const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": language };
  const answer = await fetch(url, { headers });
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), text: await answer.text() };
}

function filesOf({ body }: Received): readonly (PostedFacts & { readonly url?: string })[] {
  return (JSON.parse(body.toString("utf8")) as { submission: { data: { cv: PostedFacts[] } } }).submission
    .data.cv;
}

test("nobody reads a file before the scanner found it clean, and the message about it waits until then", async () => {
  const { post, read, data, judged, judge, received, clamd, server } = await world();
  const { id, files } = await post(CLEAN);
  const fileId = files[0]?.id ?? "";
  expect(files).toMatchObject([{ name: "cv-0.pdf", state: "scanning" }]);
  await until(() => clamd.files.length > 0);
  expect(await read(id, fileId)).toMatchObject({ status: 409, json: { error: "Conflict" } });
  expect(received).toEqual([]);

  judge();
  await judged(id);
  expect((await data(id))[0]).not.toHaveProperty("state");
  expect((await read(id, fileId)).status).toBe(200);
  await until(() => received.length > 0);
  const [message] = filesOf(received[0] as Received);
  expect(message).not.toHaveProperty("state");
  const answer = await fetch(message?.url?.replace(/^.*(?=\/files\/)/, server.url) ?? "");
  expect(Buffer.from(await answer.arrayBuffer()).equals(CLEAN)).toBe(true);
  expect(clamd.files[0]?.equals(CLEAN)).toBe(true);
});

test("of a file with a virus the bytes are deleted, and its submission is kept and sent with the verdict", async () => {
  const { post, read, data, judged, judge, received, server } = await world();
  judge();
  const { id, files } = await post(CLEAN, INFECTED);
  await judged(id);
  const [clean, infected] = files.map((file) => file.id) as [string, string];
  const verdict = { state: "infected", verdict: "Eicar-Test-Signature" };
  expect(await data(id)).toMatchObject([{ id: clean }, { id: infected, ...verdict }]);
  expect((await read(id, clean)).status).toBe(200);
  const answer = await read(id, infected);
  expect(answer).toMatchObject({ status: 410, json: { error: "Gone" } });
  expect(answer.text).toContain("Eicar-Test-Signature");
  await until(() => received.length > 0);
  expect(filesOf(received[0] as Received)).toMatchObject([{ id: clean }, { id: infected, ...verdict }]);
  expect(filesOf(received[0] as Received)[1]).not.toHaveProperty("url");
  await until(() => storedFiles(server.owner).files.length === 1);
  expect(server.log.some((line) => line.includes('"scan.found"') && line.includes(infected))).toBe(true);
});

test("a scanner that is not there holds a message up for files.scanWaitMs, and then the file is kept as not scanned", async () => {
  const { post, read, data, judged, received, clamd, server } = await world();
  await clamd.stop();
  const { id, files } = await post(CLEAN);
  await until(() => server.log.some((line) => line.includes('"scan.away"')));
  expect((await read(id, files[0]?.id ?? "")).status).toBe(409);
  expect(received).toEqual([]);
  server.clock.advance(WAIT_MS);
  await judged(id);
  expect(await data(id)).toMatchObject([{ state: "unscanned" }]);
  expect((await read(id, files[0]?.id ?? "")).status).toBe(200);
  await until(() => received.length > 0);
  expect(filesOf(received[0] as Received)).toMatchObject([{ state: "unscanned", url: expect.any(String) }]);
});

test("a file that was not scanned in time is scanned when the scanner is back; a virus ends it then", async () => {
  const { post, read, data, judged, judge, received, clamd, server } = await world();
  judge();
  await clamd.stop();
  const { id, files } = await post(INFECTED);
  server.clock.advance(WAIT_MS);
  await judged(id);
  await until(() => received.length > 0);
  const link = filesOf(received[0] as Received)[0]?.url?.replace(/^.*(?=\/files\/)/, server.url) ?? "";
  expect((await fetch(link)).status).toBe(200);
  await clamd.listen();
  await until(async () => (await data(id))[0]?.state === "infected" || undefined);
  expect((await read(id, files[0]?.id ?? "")).status).toBe(410);
  expect((await fetch(link)).status).toBe(410);
});

test("with files.whenUnscanned refuse nobody reads a file that was not scanned, and all messages go", async () => {
  const { post, read, data, judged, received, clamd, server } = await world({ whenUnscanned: "refuse" });
  await clamd.stop();
  const { id, files } = await post(CLEAN);
  server.clock.advance(WAIT_MS);
  await judged(id);
  expect(await data(id)).toMatchObject([{ state: "unscanned" }]);
  expect(await read(id, files[0]?.id ?? "")).toMatchObject({ status: 403, json: { error: "Forbidden" } });
  await until(() => received.length > 0);
  const link = filesOf(received[0] as Received)[0]?.url?.replace(/^.*(?=\/files\/)/, server.url) ?? "";
  expect((await fetch(link)).status).toBe(403);
  expect(await openIn("de", link)).toMatchObject({
    status: 403,
    retryAfter: null,
    text: expect.stringContaining("<p>Nicht auf Viren geprüft</p>") as string,
  });
});

test("a person who opens the address of a file that is being scanned is told in their language when to try again", async () => {
  const { post, server, clamd } = await world();
  const { files } = await post(CLEAN);
  await until(() => clamd.files.length > 0);
  const keyring = createKeyring({ keyFile: null, key: null });
  const links = createFileLinks({ db: server.owner, keyring, baseUrl: server.url, days: 7 });
  const own = [files[0]?.id ?? ""];
  const { cv } = JSON.parse(await links.link({ cv: files }, server.clock.now(), own)) as LinkedData;
  const link = cv[0].url;
  expect(await openIn("de", link)).toMatchObject({
    status: 409,
    retryAfter: "2",
    text: expect.stringContaining("<p>Wird auf Viren geprüft</p>") as string,
  });
  const answer = await fetch(link, { headers: { accept: "application/json" } });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([409, "2"]);
  expect(await answer.json()).toMatchObject({ error: "Conflict" });
});

test("the management API gives neither the bytes of a file that waits nor of one with a virus", async () => {
  const { post, judged, judge, server } = await world();
  const ask = askWith(server, await makeToken(server));
  const { id, files } = await post(INFECTED);
  const content = () => ask("GET", `/files/${files[0]?.id}/content`);
  expect((await content()).status).toBe(409);
  judge();
  await judged(id);
  expect((await content()).status).toBe(404);
});

test("a restart in the middle of a scan goes on with it", async () => {
  const { post, judged, judge, data, received, clamd, server } = await world();
  const { id } = await post(CLEAN, INFECTED);
  await until(() => clamd.files.length >= 2);
  await server.restart();
  judge();
  await judged(id);
  expect((await data(id)).map(({ state }) => state)).toEqual([undefined, "infected"]);
  await until(() => received.length > 0);
});

test("a server without a scanner ends what waits for one", async () => {
  const { post, judged, data, received, clamd, server } = await world();
  const { id } = await post(CLEAN);
  await until(() => clamd.files.length > 0);
  Object.assign(server.config.files, { clamd: null });
  await server.restart();
  await judged(id);
  expect(await data(id)).toMatchObject([{ state: "unscanned" }]);
  await until(() => received.length > 0);
});

test("a changed files.whenUnscanned holds for files of before", async () => {
  const { post, read, judged, clamd, server } = await world({ whenUnscanned: "refuse" });
  await clamd.stop();
  const { id, files } = await post(CLEAN);
  server.clock.advance(WAIT_MS);
  await judged(id);
  expect((await read(id, files[0]?.id ?? "")).status).toBe(403);
  Object.assign(server.config.files, { whenUnscanned: "keep" });
  await server.restart();
  expect((await read(id, files[0]?.id ?? "")).status).toBe(200);
});

test("the files of a held post are scanned, and its release sends what was found", async () => {
  const { server, endpoint, judge, received } = await world({
    config: { plans: { hobby: { monthlySubmissions: 0 } } },
  });
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: INFECTED }],
  ]);
  const authorization = `Bearer ${endpoint.secret}`;
  const answer = await server.request({
    method: "POST",
    path: "/submit",
    headers: { ...headers, authorization },
    body,
  });
  expect(answer.json).toMatchObject({ notices: ["held"] });
  const held = () => server.owner.prepare("SELECT id, data FROM held").get() as { id: string; data: string };
  expect(held().data).toContain('"scanning"');
  judge();
  await until(() => held().data.includes("Eicar-Test-Signature"));
  const fileLinks = createFileLinks({
    db: server.owner,
    keyring: createKeyring({ keyFile: null, key: null }),
    baseUrl: server.url,
    days: 7,
  });
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  await performOn(server.owner, releaseHeld, { held: held().id }, { plans, parts: { fileLinks } });
  await until(() => received.length > 0);
  expect(filesOf(received[0] as Received)).toMatchObject([{ state: "infected" }]);
});

test("the messages of a held post that is released while it is scanned wait for the verdict", async () => {
  const { server, endpoint, judge, received, clamd } = await world({
    config: { plans: { hobby: { monthlySubmissions: 0 } } },
  });
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: INFECTED }],
  ]);
  const authorization = `Bearer ${endpoint.secret}`;
  await server.request({ method: "POST", path: "/submit", headers: { ...headers, authorization }, body });
  await until(() => clamd.files.length > 0);
  const held = server.owner.prepare("SELECT id FROM held").pluck().get() as string;
  const fileLinks = createFileLinks({
    db: server.owner,
    keyring: createKeyring({ keyFile: null, key: null }),
    baseUrl: server.url,
    days: 7,
  });
  const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
  const setCondition = (value: string) =>
    server.owner
      .prepare("UPDATE recipient SET conditions = ? WHERE endpoint_id = ?")
      .run(writeConditions(parseConditions([`name=${value}`])), endpoint.id);
  setCondition("Ana");
  await performOn(server.owner, releaseHeld, { held }, { plans, parts: { fileLinks } });
  expect(received).toEqual([]);
  // Its conditions were decided at the release.
  setCondition("Bo");
  judge();
  await until(() => received.length > 0);
  expect(filesOf(received[0] as Received)).toMatchObject([{ state: "infected" }]);
  expect(received).toHaveLength(1);
});

test("a file that is deleted while it is scanned holds no message up", async () => {
  const { post, judge, received, clamd, server } = await world();
  const ask = askWith(server, await makeToken(server));
  const { files } = await post(CLEAN);
  await until(() => clamd.files.length > 0);
  expect((await ask("DELETE", `/files/${files[0]?.id}`)).status).toBe(204);
  await until(() => received.length > 0);
  judge();
  expect(filesOf(received[0] as Received)).toMatchObject([{ state: "deleted" }]);
});

test("the automatic reply does not wait for the scanner, is sent once, and has neither a file's name nor a link to it", async () => {
  const mail = await startMailServer();
  const { server, endpoint, clamd, judge, judged, received } = await world({
    config: { mail: { host: "127.0.0.1", port: mail.port, from: "forms@example.com" } },
    schema: { ...applicationSchema, email: { type: "string", format: "email" } },
  });
  const known = server.owner.now(() => getEndpoint(endpoint.id));
  await setAutoReply(server.owner, { endpoint: known, change: {} }, server.clock.now());
  const { id, files } = await postFiles(server, endpoint.secret, [
    ["name", "Ana"],
    ["email", "ana@example.org"],
    ["cv", { name: "unmistakable.pdf", bytes: CLEAN }],
  ]);
  await until(() => clamd.files.length > 0 && mail.received.length > 0);
  expect(received).toEqual([]);
  const reply = readMail(mail.received[0]?.raw ?? Buffer.alloc(0));
  expect(reply.text).toContain(id);
  for (const shown of [reply.text, reply.html]) {
    expect(shown).not.toContain("unmistakable");
    expect(shown).not.toContain(files[0]?.id);
    expect(shown).not.toContain("/files/");
  }
  judge();
  await judged(id);
  // The messages that waited for the verdict go now.
  await until(() => received.length > 0);
  const filter = { recipientId: null, submissionId: id, state: null, cursor: null, limit: 100 };
  const replies = server.owner.now(() => listDeliveries({ ...filter, kinds: [REPLY_KIND] }));
  expect(replies.deliveries).toMatchObject([{ state: "delivered" }]);
  expect(mail.received).toHaveLength(1);
});
