import { expect, onTestFinished, test } from "vitest";
import { addWebhooks } from "../support/add-webhooks.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { type Received, startReceiverWith } from "../support/receivers.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, pdf, postFiles, sha256 } from "../support/uploads.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const FILES = "https://files.example.com";
const APP = "https://forms.example.com";

/** A form with a webhook; `status` says how its receiver answers. */
async function world(status: (index: number) => number = () => 200) {
  const receiver = await startReceiverWith((response, _received, index) => {
    response.statusCode = status(index);
    response.end();
  });
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const server = await startServer({
    server: { port: 0, baseUrl: APP },
    files: { baseUrl: FILES },
    webhooks: { allowNetworks: ["127.0.0.1"] },
  });
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  await server.owner.transaction(() => addWebhooks(endpoint.id, receiver.url, 1));
  const bytes = pdf(700_001);
  const sent = await postFiles(server, endpoint.secret, [
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  const ask = askWith(server, await makeToken(server));
  const webhook = server.owner.prepare("SELECT id FROM webhook").pluck().get() as string;
  await until(() => receiver.received.length > 0);
  return { server, endpoint, ask, webhook, bytes, sent, received: receiver.received };
}

interface Linked {
  readonly url: string;
  readonly url_expires_at: string;
}

/** The file of a message. */
function fileOf({ body }: Received): Linked & Record<string, unknown> {
  const { submission } = JSON.parse(body.toString("utf8")) as { submission: { data: { cv: [Linked] } } };
  return submission.data.cv[0] as Linked & Record<string, unknown>;
}

/** Reads an address of files from the server of the test. */
async function read(server: TestServer, url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url.replace(FILES, server.url), { headers });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes };
}

test("a webhook's message has an address of each file, with which the receiver reads it, whole or in parts", async () => {
  const { server, bytes, sent, received } = await world();
  const [message] = received as [Received];
  const { url, url_expires_at: ends, ...facts } = fileOf(message);
  expect(facts).toEqual(sent.files[0]);
  expect(url.startsWith(`${FILES}/files/${sent.files[0]?.id}?until=`)).toBe(true);
  expect(Date.parse(ends)).toBe(Math.floor(server.clock.now() / 1000) * 1000 + 7 * DAY_MS);
  const whole = await read(server, url);
  expect([whole.status, sha256(whole.bytes)]).toEqual([200, sha256(bytes)]);
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-type": "application/pdf",
    "content-disposition": "attachment; filename=\"cv.pdf\"; filename*=UTF-8''cv.pdf",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  const part = await read(server, url, { range: "bytes=262140-262150" });
  expect([part.status, part.bytes]).toEqual([206, bytes.subarray(262_140, 262_151)]);
  await server.restart();
  expect((await read(server, url)).status).toBe(200);
});

test("whoever knows the id of another's file gets no address of it by data that look like a list of files", async () => {
  const { server, sent, received } = await world();
  const id = sent.files[0]?.id ?? "";
  const text = { type: "string" } as const;
  const items = {
    type: "object",
    properties: { id: text, name: text, size: { type: "number" }, type: text },
  } as const;
  const thief = await server.addEndpoint({
    schema: { cv: { type: "file" }, list: { type: "array", items } },
  });
  const receiver = server.owner.prepare("SELECT url FROM webhook").pluck().get() as string;
  await server.owner.transaction(() => addWebhooks(thief.id, receiver, 1));
  const own = await postFiles(server, thief.secret, [
    ["list[0][id]", id],
    ["list[0][name]", "cv.pdf"],
    ["list[0][size]", "700001"],
    ["list[0][type]", "application/pdf"],
    ["cv", { name: "own.pdf", bytes: pdf(1000) }],
  ]);
  await until(() => received.length > 1);
  const message = received[1] as Received;
  expect(fileOf(message).url).toContain(`/files/${own.files[0]?.id}?`);
  expect(message.body.toString("utf8")).not.toContain(`/files/${id}?`);
});

test("every wrong address of a file is 404 in the same words, one that ended too, and one of a deleted file 410", async () => {
  const { server, ask, sent, received } = await world();
  const { url } = fileOf(received[0] as Received);
  const good = new URL(url);
  const changed = (name: string, value: string): string => {
    const wrong = new URL(url);
    wrong.searchParams.set(name, value);
    return wrong.href;
  };
  const sig = good.searchParams.get("sig") ?? "";
  const wrong = [
    changed("sig", `${sig.slice(0, -1)}${sig.endsWith("A") ? "B" : "A"}`),
    changed("sig", `${sig.startsWith("A") ? "B" : "A"}${sig.slice(1)}`),
    changed("until", String(Number(good.searchParams.get("until")) + 1)),
    url.replace(/fil_\w+/, "fil_01h455vb4pex5vsknk084sn02q"),
    url.replace(/fil_\w+/, "x"),
    url.split("&")[0] ?? "",
    `${url}&sig=${sig}`,
    `${FILES}/files/${sent.files[0]?.id}`,
  ];
  const answers = await Promise.all(wrong.map((each) => read(server, each)));
  const texts = answers.map(({ status, bytes }) => [
    status,
    bytes.toString("utf8").replace(/"request_id":"[^"]*"/, ""),
  ]);
  for (const text of texts) expect(text).toEqual(texts[0]);
  expect(texts[0]?.[0]).toBe(404);
  await ask("DELETE", `/files/${sent.files[0]?.id}`);
  expect((await read(server, url)).status).toBe(410);
  server.clock.advance(7 * DAY_MS);
  expect((await read(server, url)).status).toBe(404);
});

test("a person who opens an address of a file that ended, or whose file is deleted, reads it in their language", async () => {
  const { server, ask, sent, received } = await world();
  const { url } = fileOf(received[0] as Received);
  const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "accept-language": "de" };
  const open = async (address: string) => {
    const { status, headers, bytes } = await read(server, address, browser);
    return [status, headers.get("content-type"), bytes.toString("utf8")] as const;
  };
  const wrong = await open(`${url}x`);
  expect(wrong[2]).toContain('<html lang="de"');
  expect(wrong[2]).toContain("oder die Datei wurde gelöscht");
  await ask("DELETE", `/files/${sent.files[0]?.id}`);
  expect(await open(url)).toEqual([410, "text/html; charset=utf-8", wrong[2]]);
  server.clock.advance(7 * DAY_MS);
  expect(await open(url)).toEqual([404, "text/html; charset=utf-8", wrong[2]]);
});

test("the file of a submission in the bin has no address, until it is brought back", async () => {
  const { server, endpoint, ask, sent, received } = await world();
  const file = sent.files[0]?.id ?? "";
  const byKey = () =>
    read(server, `${FILES}/submissions/${sent.id}/files/${file}`, {
      authorization: `Bearer ${endpoint.secret}`,
    });
  const { url } = fileOf(received[0] as Received);
  await ask("POST", "/submissions/delete", { body: { submissions: [sent.id] } });
  expect((await read(server, url)).status).toBe(404);
  expect((await byKey()).status).toBe(404);
  expect((await ask("GET", `/files/${file}/content`)).status).toBe(404);
  await ask("POST", "/submissions/undelete", { body: { submissions: [sent.id] } });
  expect((await read(server, url)).status).toBe(200);
  expect((await byKey()).status).toBe(200);
});

test("attempts of one message have the same bytes; one sent as new has new addresses", async () => {
  const { server, ask, webhook, sent, received } = await world((index) => (index === 0 ? 500 : 200));
  const due = "SELECT count(*) FROM delivery WHERE state = 'pending' AND attempts = 1";
  await until(() => server.owner.prepare(due).pluck().get() === 1);
  server.clock.advance(1000);
  await ask("POST", `/webhooks/${webhook}/try`);
  await until(() => received.length === 2);
  const [first, second] = received as [Received, Received];
  expect(second.body).toEqual(first.body);
  await until(() => server.owner.prepare("SELECT state FROM delivery").pluck().get() === "delivered");

  server.clock.advance(2 * DAY_MS);
  const delivery = server.owner.prepare("SELECT id FROM delivery").pluck().get() as string;
  await ask("POST", "/webhook-deliveries/replay", { body: { delivery } });
  await until(() => received.length === 3);
  expect(received[2]?.body).toEqual(first.body);
  await until(() => server.owner.prepare("SELECT state FROM delivery").pluck().get() === "delivered");

  const answer = await ask("POST", "/webhook-deliveries/replay", { body: { delivery, as_new: true } });
  await until(() => received.length === 4);
  const renewed = fileOf(received[3] as Received);
  expect(received[3]?.headers["webhook-id"]).toBe(answer.json["id"]);
  expect(Date.parse(renewed.url_expires_at)).toBe(Math.floor(server.clock.now() / 1000) * 1000 + 7 * DAY_MS);
  expect((await read(server, renewed.url)).status).toBe(200);
  await until(
    () => server.owner.prepare("SELECT count(*) FROM delivery WHERE state = 'delivered'").pluck().get() === 2,
  );

  await ask("DELETE", `/files/${sent.files[0]?.id}`);
  await ask("POST", "/webhook-deliveries/replay", { body: { delivery, as_new: true } });
  await until(() => received.length === 5);
  expect(fileOf(received[4] as Received)).toEqual({ ...sent.files[0], state: "deleted" });
});

test("on the host of files there is no dashboard, and elsewhere there is", async () => {
  const { server, received } = await world();
  const at = (host: string, path: string) => server.request({ method: "GET", path, headers: { host } });
  const { pathname, search } = new URL(fileOf(received[0] as Received).url);
  expect((await at("files.example.com", `${pathname}${search}`)).status).toBe(200);
  for (const path of ["/dashboard", "/dashboard/sign-in", "/dashboard/assets/style.css", "/"])
    for (const host of ["files.example.com", "FILES.example.com", "files.example.com:443"])
      expect([host, path, (await at(host, path)).status]).toEqual([host, path, 404]);
  // There it is refused over plain http only.
  expect((await at("forms.example.com", "/dashboard/sign-in")).status).toBe(403);
});
