import { describe, expect, test } from "vitest";
import { type Challenge, NO_CHALLENGE } from "../../src/endpoints/challenge.ts";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import type { EndpointSettings } from "../../src/endpoints/endpoint.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { decode, encode, solve } from "../support/solve.ts";
import { goodPost, startServer, type TestEndpoint, type TestServer } from "../support/test-server.ts";
import { changeEndpoint } from "../support/terminal.ts";

async function world(
  challenge: Partial<Challenge> = {},
  settings: Partial<EndpointSettings> = {},
  schema: SchemaDefinition = { message: { type: "string", required: true } },
) {
  const server = await startServer();
  const asked = { ...NO_CHALLENGE, kind: "pow", isRequired: true, ...challenge } as const;
  const endpoint = await server.addEndpoint({
    schema,
    settings: { challenge: asked, ...settings },
  });
  return { server, endpoint };
}

async function askFor(server: TestServer, { publishable }: TestEndpoint) {
  const { status, json, headers } = await server.request({
    method: "GET",
    path: `/challenge?key=${publishable}`,
  });
  expect([status, headers["cache-control"], headers["access-control-allow-origin"]]).toEqual([
    200,
    "no-store",
    "*",
  ]);
  return json;
}

const proofOf = async (server: TestServer, endpoint: TestEndpoint) => solve(await askFor(server, endpoint));

function send(
  server: TestServer,
  { publishable }: TestEndpoint,
  proof: unknown,
  { headers = {}, body = { message: "Two cakes please." } }: SentMore = {},
) {
  return server.post(publishable, { ...body, ...(proof !== undefined && { _pow: proof }) }, headers);
}

interface SentMore {
  readonly headers?: Record<string, string>;
  readonly body?: Record<string, unknown>;
}

const signals = (server: TestServer): string[] =>
  (server.owner.prepare("SELECT spam_reasons FROM submission ORDER BY id").pluck().all() as string[]).flatMap(
    (text) =>
      (JSON.parse(text) as { signal: string }[])
        .map(({ signal }) => signal)
        .filter((each) => each === "challenge"),
  );

test("a solved challenge is taken, is not stored among the data, and speaks for nobody", async () => {
  const { server, endpoint } = await world();
  const asked = await askFor(server, endpoint);
  expect(Object.keys(asked).toSorted()).toEqual(["algorithm", "challenge", "maxnumber", "salt", "signature"]);
  expect((await send(server, endpoint, solve(asked))).status).toBe(200);
  expect(server.stored()).toEqual([{ message: "Two cakes please." }]);
  expect(signals(server)).toEqual([]);
});

test("a required challenge that is missing, replayed, forged or for another form is refused, and nothing is stored", async () => {
  const { server, endpoint } = await world();
  const other = await server.addEndpoint({ settings: { challenge: { ...NO_CHALLENGE, kind: "pow" } } });
  const good = await proofOf(server, endpoint);
  const proof = decode(good);
  const salt = String(proof["salt"]);
  const wrong: unknown[] = [
    undefined,
    "",
    null,
    7,
    {},
    "no base64!",
    "x".repeat(70_000),
    encode(null),
    encode({ ...proof, number: Number(proof["number"]) + 1 }),
    encode({ ...proof, number: -1 }),
    encode({ ...proof, signature: "0".repeat(64) }),
    encode({ ...proof, signature: "0" }),
    encode({ ...proof, algorithm: "SHA-1" }),
    encode({ ...proof, salt: salt.replace(/expires=\d+/, "expires=9999999999") }),
    // A later time made of digits of the number.
    encode({
      ...proof,
      salt: salt.slice(0, -1) + String(proof["number"])[0],
      number: Number(String(proof["number"]).slice(1)),
    }),
    await proofOf(server, other),
  ];
  for (const each of wrong) {
    const answer = await send(server, endpoint, each);
    if (answer.status === 413) continue;
    expect([answer.status, (answer.json as { error: string }).error]).toEqual([403, "Challenge required"]);
  }
  expect((await send(server, endpoint, good)).status).toBe(200);
  expect((await send(server, endpoint, good)).status).toBe(403);
  expect(server.stored()).toHaveLength(1);
  expect(server.owner.prepare("SELECT count(*) FROM held").pluck().get()).toBe(0);
});

test("a late proof is refused, and one just before its end is taken", async () => {
  const { server, endpoint } = await world();
  const [first, second] = [await proofOf(server, endpoint), await proofOf(server, endpoint)];
  server.clock.advance(599_000);
  expect((await send(server, endpoint, first)).status).toBe(200);
  server.clock.advance(2000);
  expect((await send(server, endpoint, second)).status).toBe(403);
});

test("of one proof that comes many times at once, one post is stored", async () => {
  const { server, endpoint } = await world();
  const proof = await proofOf(server, endpoint);
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(server, endpoint, proof)));
  const statuses = answers.map(({ status }) => status);
  expect([
    statuses.filter((each) => each === 200).length,
    statuses.filter((each) => each === 403).length,
  ]).toEqual([1, 7]);
  expect(server.stored()).toHaveLength(1);
});

test("a post that its schema refuses does not spend its proof, and a replay by its Idempotency-Key is answered first", async () => {
  const { server, endpoint } = await world();
  const proof = await proofOf(server, endpoint);
  expect((await send(server, endpoint, proof, { body: {} })).status).toBe(400);
  const key = { "idempotency-key": "once" };
  const first = await send(server, endpoint, proof, { headers: key });
  const again = await send(server, endpoint, proof, { headers: key });
  expect([first.status, again.status, again.json]).toEqual([200, 200, first.json]);
  expect(server.stored()).toHaveLength(1);
});

test("a challenge that is not required raises the score only, if it is missing or spent", async () => {
  const { server, endpoint } = await world({ isRequired: false });
  const proof = await proofOf(server, endpoint);
  for (const each of [proof, proof, undefined, "forged"])
    expect((await send(server, endpoint, each)).status).toBe(200);
  expect([server.stored().length, signals(server).length]).toEqual([4, 3]);
  const racing = await proofOf(server, endpoint);
  const answers = await Promise.all([send(server, endpoint, racing), send(server, endpoint, racing)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect([server.stored().length, signals(server).length]).toEqual([6, 4]);
});

test("who asks for the task in place of a proof is refused, so that nothing is lost, also if it is not required", async () => {
  for (const isRequired of [true, false]) {
    const { server, endpoint } = await world({ isRequired });
    const asked = await send(server, endpoint, "ask");
    expect([asked.status, asked.json["error"]]).toEqual([403, "Challenge required"]);
    expect((await send(server, endpoint, await proofOf(server, endpoint))).status).toBe(200);
    expect([server.stored().length, signals(server)]).toEqual([1, []]);
  }
  const { server, endpoint } = await world({ kind: "off" }, { unknownFields: "reject" });
  expect((await send(server, endpoint, "ask")).status).toBe(200);
  expect(server.stored()).toEqual([{ message: "Two cakes please." }]);
});

test("a held post spends its proof too", async () => {
  const { server, endpoint } = await world();
  const spam = { message: "[url=https://a.example]cheap pills[/url] ".repeat(40), _gotcha: "robot" };
  const proof = await proofOf(server, endpoint);
  expect((await send(server, endpoint, proof, { body: spam })).status).toBe(429);
  expect(server.owner.prepare("SELECT count(*) FROM held").pluck().get()).toBe(1);
  expect((await send(server, endpoint, proof)).status).toBe(403);
});

test("a secret key needs no challenge, and is not taken in an address", async () => {
  const { server, endpoint } = await world();
  expect((await server.post(endpoint.secret, { message: "Hello" })).status).toBe(200);
  const asked = await server.request({ method: "GET", path: `/challenge?key=${endpoint.secret}` });
  expect(asked.status).toBe(403);
});

test("a proof is spent across a restart, and an unspent one is taken after it", async () => {
  const { server, endpoint } = await world();
  const [spent, kept] = [await proofOf(server, endpoint), await proofOf(server, endpoint)];
  expect((await send(server, endpoint, spent)).status).toBe(200);
  await server.restart();
  expect((await send(server, endpoint, spent)).status).toBe(403);
  expect((await send(server, endpoint, kept)).status).toBe(200);
  expect(server.stored()).toHaveLength(2);
});

test("a post with a file whose proof another had a moment ago is stored all the same if none is required", async () => {
  const { server, endpoint } = await world(
    { isRequired: false },
    {},
    { message: { type: "string" }, note: { type: "file", accept: ["text/plain"] } },
  );
  const proof = await proofOf(server, endpoint);
  const upload = (): Promise<Response> => {
    const form = new FormData();
    form.append("message", "With a file");
    form.append("_pow", proof);
    form.append("note", new File(["Two cakes"], "note.txt", { type: "text/plain" }));
    return fetch(`${server.url}/f/${endpoint.publishable}`, {
      method: "POST",
      body: form,
      headers: { accept: "application/json" },
    });
  };
  const answers = await Promise.all([upload(), upload(), upload()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([server.stored().length, signals(server).length]).toEqual([3, 2]);
  const names = server.stored().map(({ note }) => (note as { name: string }[]).map(({ name }) => name));
  expect(names).toEqual([["note.txt"], ["note.txt"], ["note.txt"]]);
});

test("an address asks for as many challenges as it may send posts, and neither takes from the other", async () => {
  const server = await startServer({ rateLimit: { publishable: { max: 2, windowSeconds: 3600 } } });
  const settings = { challenge: { ...NO_CHALLENGE, kind: "pow" } } as const;
  const [endpoint, other] = [await server.addEndpoint({ settings }), await server.addEndpoint({ settings })];
  const ask = async ({ publishable }: TestEndpoint) =>
    await server.request({ method: "GET", path: `/challenge?key=${publishable}` });
  expect([(await ask(endpoint)).status, (await ask(endpoint)).status]).toEqual([200, 200]);
  const refused = await ask(endpoint);
  expect([refused.status, Number(refused.headers["retry-after"]) > 0]).toEqual([429, true]);
  expect((await ask(other)).status).toBe(200);
  for (const status of [200, 200, 429])
    expect((await server.post(endpoint.publishable, goodPost)).status).toBe(status);
});

test("a form without one answers that nothing is asked for, and an unknown key or form nothing", async () => {
  const { server, endpoint } = await world({ kind: "off" });
  const status = async (query: string) =>
    (await server.request({ method: "GET", path: `/challenge${query}` })).status;
  expect(await status(`?key=${endpoint.publishable}`)).toBe(204);
  expect([
    await status(""),
    await status("?key=fpk_x"),
    await status("?form=Contact"),
    await status("?x=1"),
  ]).toEqual([401, 401, 404, 400]);
});

test("proofs that would be late are deleted", async () => {
  const { server, endpoint } = await world();
  await send(server, endpoint, await proofOf(server, endpoint));
  const left = () => server.owner.prepare("SELECT count(*) FROM spent_proof").pluck().get();
  expect(left()).toBe(1);
  server.clock.advance(700_000);
  const { forgetProofs } = await import("../../src/submissions/commit/spent-proofs.ts");
  expect([server.owner.now(() => forgetProofs(server.clock.now())), left()]).toEqual([1, 0]);
});

describe("without script", () => {
  const form = (server: TestServer, path: string, body: string) =>
    server.request({
      method: "POST",
      path,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: server.url },
      body,
    });

  test("a plain form is told in its visitor's language what is missing, and its input is there again", async () => {
    const { server, endpoint } = await world({}, { language: "de" });
    const { status, text, headers } = await form(server, `/f/${endpoint.publishable}`, "message=Zwei+Kuchen");
    expect([
      status,
      text.includes("Bitte erlauben Sie Skripte"),
      text.includes('value="Zwei Kuchen"'),
    ]).toEqual([403, true, true]);
    expect(text).toContain(`data-formsvc-challenge="../challenge?key=${endpoint.publishable}"`);
    expect(headers["content-security-policy"]).toMatch(
      /^script-src 'self'; connect-src 'self'; default-src 'none'/,
    );
  });

  test("a plain form whose challenge is not required is taken", async () => {
    const { server, endpoint } = await world({ isRequired: false });
    expect((await form(server, `/f/${endpoint.publishable}`, "message=Hello")).status).toBe(200);
  });

  test("the form's own page says it beside its button, and has a script only with a challenge", async () => {
    const page = { ...NO_PAGE, isOn: true };
    const { server, endpoint } = await world({}, { page });
    const path = `/p/${endpoint.id}`;
    const asked = await server.request({ method: "GET", path });
    expect(asked.text).toContain('<noscript><p class="problem">Please allow scripts');
    expect(asked.text).toContain('<script src="../formsvc-page.js" defer></script>');
    expect(Buffer.byteLength(asked.text)).toBeLessThan(30_000);
    server.owner.now(() => changeEndpoint(endpoint.id, { settings: { challenge: NO_CHALLENGE } }));
    await expect
      .poll(async () => (await server.request({ method: "GET", path })).text)
      .not.toContain("<script");
  });
});
