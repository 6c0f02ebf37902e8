import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { expect, test } from "vitest";
import { findSignatureProblem, newSecret, secretKey, signMessage } from "../../src/webhooks/sign.ts";

const ID = "msg_01h455vb4pex5vsknk084sn02q";

function headersFor(body: Buffer, secrets: string[], seconds = Math.floor(Date.now() / 1000)) {
  const message = { id: ID, timestamp: String(seconds), body };
  return {
    "webhook-id": ID,
    "webhook-timestamp": message.timestamp,
    "webhook-signature": signMessage(message, secrets.map(secretKey)),
  };
}

test("any body that is text verifies with both official libraries, and ours agrees", () => {
  const secret = newSecret();
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
      const body = Buffer.from(text.toWellFormed());
      const headers = headersFor(body, [secret]);
      new Webhook(secret).verify(body, headers);
      new SvixWebhook(secret).verify(body, headers);
      const message = { id: ID, timestamp: headers["webhook-timestamp"], body };
      expect(
        findSignatureProblem(message, headers["webhook-signature"], [secretKey(secret)], Date.now()),
      ).toBeNull();
    }),
    { numRuns: 200 },
  );
});

test("during a rotation both secrets verify, and a third does not", () => {
  const [newer, older, foreign] = [newSecret(), newSecret(), newSecret()];
  const body = Buffer.from('{"a":"ü"}');
  const headers = headersFor(body, [newer, older]);
  for (const secret of [newer, older]) {
    new Webhook(secret).verify(body, headers);
    new SvixWebhook(secret).verify(body, headers);
  }
  expect(() => new Webhook(foreign).verify(body, headers)).toThrow("No matching signature found");
  expect(headers["webhook-signature"].split(" ")[0]).toBe(headersFor(body, [newer])["webhook-signature"]);
});

test("what another library signed verifies here", () => {
  const secret = newSecret();
  const seconds = 1_790_000_000;
  const signature = new Webhook(secret).sign(ID, new Date(seconds * 1000), "{}");
  const message = { id: ID, timestamp: String(seconds), body: Buffer.from("{}") };
  expect(findSignatureProblem(message, signature, [secretKey(secret)], seconds * 1000)).toBeNull();
});

test("a changed id, time or body, an old or early time, and a foreign or missing signature are refused", () => {
  const secret = newSecret();
  const nowMs = 1_790_000_000_000;
  const message = { id: ID, timestamp: "1790000000", body: Buffer.from('{"a":1}') };
  const key = secretKey(secret);
  const signature = signMessage(message, [key]);
  const check = (change: Partial<typeof message>, given = signature, at = nowMs): string | null =>
    findSignatureProblem({ ...message, ...change }, given, [key], at);
  expect(check({})).toBeNull();
  expect(check({}, signature, nowMs + 300_000)).toBeNull();
  expect(check({}, `v1,AAAA v2,x ${signature}`)).toBeNull();
  expect(check({ id: `${ID}x` })).toMatch(/no signature matches/);
  expect(check({ timestamp: "1790000001" })).toMatch(/no signature matches/);
  expect(check({ body: Buffer.from('{"a":2}') })).toMatch(/no signature matches/);
  expect(check({}, signature, nowMs + 301_000)).toMatch(/301 seconds old/);
  expect(check({}, signature, nowMs - 301_000)).toMatch(/301 seconds ahead/);
  expect(check({ timestamp: "soon" })).toMatch(/not a number/);
  expect(check({}, "")).toMatch(/no v1 signature/);
  expect(check({}, signMessage(message, [secretKey(newSecret())]))).toMatch(/no signature matches/);
  expect(check({}, "v1, v1,= v1,AAAA")).toMatch(/no signature matches/);
});

test("a secret is whsec_ and the padded standard base64 of 32 bytes", () => {
  for (let index = 0; index < 50; index += 1) {
    const secret = newSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secretKey(secret)).toHaveLength(32);
  }
});

test("text that is no secret is refused instead of being read as another key", () => {
  const short = Buffer.alloc(23).toString("base64");
  const long = Buffer.alloc(65).toString("base64");
  const url = `${"_".repeat(42)}8=`;
  for (const text of [
    "",
    "whsec_",
    `whsec_${short}`,
    `whsec_${long}`,
    `whsec_${url}`,
    newSecret().slice(6),
  ]) {
    expect(() => secretKey(text), text).toThrow(/webhook secret/);
  }
});
