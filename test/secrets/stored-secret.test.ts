import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { emptyLog } from "../../src/database/sqlite/empty-log.ts";
import { addKey } from "../../src/secrets/key-file.ts";
import { createKeyring, type Keyring } from "../../src/secrets/keyring.ts";
import { checkKeys, countSecrets, decryptSome, encryptSome } from "../../src/secrets/stored-secret.ts";
import { secretKey } from "../../src/webhooks/sign.ts";
import { listWebhookSecrets, openWebhook } from "../../src/webhooks/webhook-secrets.ts";
import {
  activeKeys,
  getWebhook,
  rotateSecretRows,
  updateWebhookRows,
} from "../../src/webhooks/webhook-store.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { verifyWithOfficial, WebhookWorld } from "../support/webhook-world.ts";

const LISTS = [listWebhookSecrets];
const TOKEN = "Bearer a-very-secret-token-of-the-receiver";

function newKeyFile(): string {
  const file = join(temporaryFolder(), "secrets.key");
  addKey(file, "");
  return file;
}

const ofFile = (keyFile: string): Keyring => createKeyring({ keyFile, key: null });

function open(world: WebhookWorld, keyring: Keyring, id: string) {
  const keys = world.db.now(() => activeKeys(world.clock.now())).get(id) ?? [];
  return openWebhook(
    keyring,
    world.db.now(() => getWebhook(id)),
    keys,
  );
}

test("with a key, what signs and the values of own headers are encrypted from the first moment, and deliveries carry them", async () => {
  await using receiver = await startReceiverWith((response) => response.end());
  await using world = new WebhookWorld({}, { keyFile: null, key: randomBytes(32).toString("base64") });
  const { webhook, secret } = world.addWebhook(receiver.url, { headers: { authorization: TOKEN } });
  const { secret: newest } = world.db.now(() => rotateSecretRows(world.keyring, webhook, world.clock.now()));
  world.db.now(() => updateWebhookRows(world.keyring, webhook.id, { maxSpamScore: 90 }));
  world.deliverer.reload();
  world.deliverer.start();
  world.post();
  await world.settle();
  const [message] = receiver.received;
  expect(message!.headers.authorization).toBe(TOKEN);
  verifyWithOfficial(secret, message!);
  verifyWithOfficial(newest, message!);
  expect([...world.db.now(() => countSecrets(LISTS))]).toEqual([[world.keyring.ids()[0], 3]]);
  const bytes = bytesOf(world);
  for (const plain of [TOKEN, secretKey(secret), secretKey(newest)])
    expect(bytes.includes(plain)).toBe(false);
});

test("plain secrets are encrypted, carried over to a new key and made plain again, and open all the time", async () => {
  await using world = new WebhookWorld();
  const url = "https://example.com/";
  const { webhook, secret } = world.addWebhook(url, { headers: { authorization: TOKEN, "x-team": "a" } });
  const file = newKeyFile();
  const expected = { headers: { authorization: TOKEN, "x-team": "a" }, keys: [{ key: secretKey(secret) }] };
  const step = (run: typeof encryptSome): void => {
    const keyring = ofFile(file);
    // One secret a transaction: the process may die behind each.
    for (let left = 3; left >= 0; left -= 1) {
      expect(open(world, ofFile(file), webhook.id)).toMatchObject(expected);
      expect(world.db.now(() => run(LISTS, keyring, 1))).toBe(left > 0 ? 1 : 0);
    }
    expect(open(world, ofFile(file), webhook.id)).toMatchObject(expected);
  };
  step(encryptSome);
  const [first] = ofFile(file).ids();
  addKey(file, "");
  step(encryptSome);
  expect([...world.db.now(() => countSecrets(LISTS))]).toEqual([[ofFile(file).ids()[0], 3]]);
  expect(ofFile(file).ids()[1]).toBe(first);
  step(decryptSome);
  expect([...world.db.now(() => countSecrets(LISTS))]).toEqual([[null, 3]]);
  expect(open(world, createKeyring(defaultConfig.secrets), webhook.id)).toMatchObject(expected);
});

test("a chat's address is encrypted as other secrets are, is shown shortened, and the chat is told", async () => {
  await using receiver = await startReceiverWith((response) => response.end("ok"));
  await using world = new WebhookWorld({}, { keyFile: null, key: randomBytes(32).toString("base64") });
  const before = new URL("/services/T0/B0/the-first-address", receiver.url).href;
  const { id } = world.addWebhook(before, { format: "slack", allowPrivate: true }).webhook;
  const url = new URL("/services/T0/B0/unguessableABCD", receiver.url).href;
  world.db.now(() => updateWebhookRows(world.keyring, id, { url }));
  world.db.now(() => updateWebhookRows(world.keyring, id, { maxSpamScore: 90 }));
  const { settings } = world.db.now(() => getWebhook(id));
  expect(settings.url).toBe(`${new URL(url).origin}/…ABCD`);
  expect([...world.db.now(() => countSecrets(LISTS))]).toEqual([[world.keyring.ids()[0], 1]]);
  const bytes = bytesOf(world);
  for (const plain of ["the-first-address", "unguessable"]) expect(bytes.includes(plain)).toBe(false);
  world.deliverer.reload();
  world.deliverer.start();
  world.post();
  await world.settle();
  expect(receiver.received.map(({ path }) => path)).toEqual(["/services/T0/B0/unguessableABCD"]);
});

test("of hundreds of plain secrets, some of them changed before, nothing is left in the file once they are encrypted", async () => {
  await using world = new WebhookWorld();
  const { webhook } = world.addWebhook("https://example.com/");
  const plain = new Set<string>();
  const noteAll = (): void => {
    for (const { stored } of world.db.now(listWebhookSecrets)) plain.add(stored.toString("latin1"));
  };
  const copyRecipient = world.db.prepare(
    "INSERT INTO recipient (id, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at) SELECT ?, endpoint_id, max_spam_score, state, breaker, breaker_count, not_before, created_at FROM recipient WHERE id = ?",
  );
  const copyWebhook = world.db.prepare(
    "INSERT INTO webhook (id, url, headers, allow_private) SELECT ?, url, headers, allow_private FROM webhook WHERE id = ?",
  );
  for (let number = 0; number < 100; number += 1) {
    const id = `wh_${String(number).padStart(26, "0")}`;
    copyRecipient.run(id, webhook.id);
    copyWebhook.run(id, webhook.id);
    const length = (number * 37) % 1000;
    for (const size of [20, 20 + length]) {
      const headers = { authorization: randomBytes(size).toString("hex").slice(0, 1000) };
      const webhook = world.db.now(() => updateWebhookRows(world.keyring, id, { headers }));
      world.db.now(() => rotateSecretRows(world.keyring, webhook, world.clock.now()));
      if (number % 7 === 0) noteAll();
    }
  }
  noteAll();
  expect(plain.size).toBeGreaterThan(300);
  const before = bytesOf(world);
  expect([...plain].every((each) => before.includes(each, 0, "latin1"))).toBe(true);
  const keyring = ofFile(newKeyFile());
  while (world.db.now(() => encryptSome(LISTS, keyring)) > 0);
  expect(emptyLog(world.db)).toBe(true);
  const bytes = bytesOf(world);
  // A half of one would be one too many.
  const halves = [...plain].flatMap((each) => [each.slice(0, 16), each.slice(16, 32)]);
  expect(halves.filter((half) => bytes.includes(half, 0, "latin1"))).toEqual([]);
});

test("a key that is missing is told before anything is sent, with its id", async () => {
  await using world = new WebhookWorld({}, { keyFile: null, key: randomBytes(32).toString("base64") });
  world.addWebhook("https://example.com/");
  const [id] = world.keyring.ids();
  expect(() => world.db.now(() => checkKeys(LISTS, world.keyring))).not.toThrow();
  expect(() => world.db.now(() => checkKeys(LISTS, createKeyring(defaultConfig.secrets)))).toThrow(
    `secrets of this database are encrypted with the key ${id}, and no key is configured`,
  );
  const other = ofFile(newKeyFile());
  expect(() => world.db.now(() => checkKeys(LISTS, other))).toThrow(`${other.source} does not hold`);
});

test("a webhook whose secret came from another row holds up no other, and nothing is sent to it", async () => {
  await using receiver = await startReceiverWith((response) => response.end());
  await using world = new WebhookWorld({}, { keyFile: null, key: randomBytes(32).toString("base64") });
  const broken = world.addWebhook(`${receiver.url}?broken`);
  const sound = world.addWebhook(`${receiver.url}?sound`);
  const moved = "UPDATE webhook_secret SET key = (SELECT key FROM webhook_secret WHERE webhook_id = ?)";
  world.db.prepare(`${moved} WHERE webhook_id = ?`).run(sound.webhook.id, broken.webhook.id);
  world.deliverer.reload();
  world.deliverer.start();
  world.post();
  await world.settle();
  expect(receiver.received.map(({ path }) => path)).toEqual(["/hook?sound"]);
  expect(world.states()).toEqual({ delivered: 1, pending: 1 });
});

function bytesOf({ db }: WebhookWorld): Buffer {
  return Buffer.concat([readFileSync(db.path), readFileSync(`${db.path}-wal`)]);
}
