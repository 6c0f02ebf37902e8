import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../src/foundation/clock.ts";
import { parseAllowedNetworks } from "../../src/webhooks/address-guard.ts";
import {
  startLocalReceiver,
  type Arrival,
  type Behaviour,
  type LocalReceiver,
} from "../../src/webhooks/local-receiver.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { createHttpSender, destinationOf, type SendResult } from "../../src/webhooks/send.ts";
import { newSecret, secretKey, signMessage } from "../../src/webhooks/sign.ts";

const receivers: LocalReceiver[] = [];

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function startListening(
  port: number,
  behaviour: Behaviour = "ok",
  keys: Buffer[] = [],
  onArrival: (arrival: Arrival) => void = () => {},
): Promise<LocalReceiver> {
  const times = Number.POSITIVE_INFINITY;
  const settings = { host: "127.0.0.1", port, keys, behaviour, times, retryAfterSeconds: 7 };
  const receiver = await startLocalReceiver({ ...settings, clock: systemClock, onArrival });
  receivers.push(receiver);
  return receiver;
}

async function deliverTo(
  behaviour: Behaviour,
  options: { keys?: Buffer[]; signedWith?: Buffer } = {},
): Promise<{ result: SendResult; arrival: Arrival | undefined }> {
  const arrivals: Arrival[] = [];
  const receiver = await startListening(0, behaviour, options.keys, (arrival) => arrivals.push(arrival));
  const allowed = parseAllowedNetworks(["127.0.0.1"]);
  const sender = createHttpSender({ allowed, timeoutMs: 500, resolveHost: createHostResolver() });
  const body = Buffer.from('{"a":1}');
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = options.signedWith
    ? signMessage({ id: "msg_1", timestamp, body }, [options.signedWith])
    : "";
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": signature };
  const result = await sender.send({
    destination: destinationOf(receiver.url),
    headers,
    body,
    allowPrivate: false,
  });
  await sender.destroy();
  return { result, arrival: arrivals[0] };
}

test("a genuine delivery is shown as verified and answered 204", async () => {
  const key = secretKey(newSecret());
  const { result, arrival } = await deliverTo("ok", { keys: [key], signedWith: key });
  expect(result).toMatchObject({ status: 204 });
  expect(arrival).toMatchObject({ id: "msg_1", problem: null, status: 204, body: Buffer.from('{"a":1}') });
});

test("a delivery signed with another secret is answered 401 with the reason", async () => {
  const { result, arrival } = await deliverTo("ok", {
    keys: [secretKey(newSecret())],
    signedWith: secretKey(newSecret()),
  });
  expect(result).toMatchObject({ status: 401 });
  expect(arrival?.problem).toMatch(/no signature matches/);
});

test("without a secret nothing is claimed about the signature", async () => {
  expect((await deliverTo("ok")).arrival?.problem).toBeUndefined();
});

test("it misbehaves as it is told to", async () => {
  expect((await deliverTo("error")).result).toMatchObject({ status: 500 });
  expect((await deliverTo("gone")).result).toMatchObject({ status: 410 });
  expect((await deliverTo("busy")).result).toMatchObject({ status: 429, retryAfter: "7" });
  expect((await deliverTo("slow")).result).toMatchObject({ kind: "error", code: "EDEADLINE" });
  expect((await deliverTo("drop")).result).toMatchObject({ kind: "error" });
});

test("a port that is taken is named, with what to do", async () => {
  const { url } = await startListening(0);
  const port = Number(new URL(url).port);
  await expect(startListening(port)).rejects.toThrow(/127\.0\.0\.1:\d+: the port is taken/);
});
