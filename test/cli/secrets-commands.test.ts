import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { secretKey } from "../../src/webhooks/sign.ts";
import { machineOnDisk, type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { until } from "../support/until.ts";
import { startReceiverWith, type TestReceiver } from "../support/receivers.ts";
import { verifyWithOfficial } from "../support/webhook-world.ts";

const TOKEN = "Bearer a-very-secret-token-of-the-receiver";
const newKey = (): string => randomBytes(32).toString("base64");

interface Created {
  readonly webhook: { readonly id: string };
  readonly secret: string;
}

interface Status {
  readonly source: string | null;
  readonly plain: number;
  readonly keys: { readonly id: string; readonly secrets: number; readonly available: boolean }[];
}

async function addWebhook(machine: OperatorMachine, url: string): Promise<Created> {
  const args = ["webhook", "create", "--endpoint", "Contact", "--url", url, "--allow-private", "--json"];
  return (await machine.mustRun([...args, "--header", `Authorization: ${TOKEN}`])).json() as Created;
}

const statusOf = async (machine: OperatorMachine): Promise<Status> =>
  (await machine.mustRun(["secrets", "status", "--json"])).json() as Status;

const keyFileOf = (machine: OperatorMachine): string => machine.path("secrets.key");

function useKeyFile(machine: OperatorMachine): void {
  machine.configure({ secrets: { keyFile: "./secrets.key" } });
}

const answering = (): Promise<TestReceiver> => startReceiverWith((response) => response.end());

async function arrived(receiver: TestReceiver, count: number): Promise<void> {
  await until(() => receiver.received.length >= count);
}

test("switched on, rotated and switched off beside a server, every delivery is signed, and no file holds a plain secret meanwhile", async () => {
  await using receiver = await answering();
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const { secret } = await addWebhook(machine, receiver.url);
  const holdsPlain = (...names: string[]): boolean =>
    names
      .filter((name) => existsSync(machine.path(name)))
      .some((name) => {
        const bytes = readFileSync(machine.path(name));
        return bytes.includes(TOKEN) || bytes.includes(secretKey(secret));
      });
  await machine.mustRun(["backup", "plain.db"]);
  expect(holdsPlain("plain.db")).toBe(true);

  useKeyFile(machine);
  const first = (await machine.mustRun(["secrets", "rotate", "--json"])).json();
  expect(first).toMatchObject({ encrypted: 2, source: "./secrets.key" });
  expect(holdsPlain("formsvc.db", "formsvc.db-wal")).toBe(false);
  const server = await machine.serve();
  await post(server.url, endpoint.secret);
  await arrived(receiver, 1);

  const second = await machine.mustRun(["secrets", "rotate"]);
  expect(second.stderr).toMatch(/2 secrets were encrypted with the key [0-9a-f]{8} of \.\/secrets\.key/);
  const { plain, keys } = await statusOf(machine);
  expect({ plain, secrets: keys.map(({ secrets }) => secrets) }).toEqual({ plain: 0, secrets: [2, 0] });
  await addWebhook(machine, `${receiver.url}?second`);
  await post(server.url, endpoint.secret);
  await arrived(receiver, 3);
  await machine.mustRun(["backup", "sealed.db"]);
  expect(holdsPlain("formsvc.db", "formsvc.db-wal", "sealed.db")).toBe(false);
  expect((await machine.run(["doctor"])).stderr).toMatch(/ok +secrets\.encryption +secrets: 4, enc/);

  expect((await machine.mustRun(["secrets", "decrypt", "--json"])).json()).toEqual({ decrypted: 4 });
  await post(server.url, endpoint.secret);
  await arrived(receiver, 5);
  expect(await server.stop()).toBe(0);
  machine.configure({});
  rmSync(keyFileOf(machine));
  const plainServer = await machine.serve();
  await post(plainServer.url, endpoint.secret);
  await arrived(receiver, 7);
  for (const message of receiver.received) expect(message.headers.authorization).toBe(TOKEN);
  for (const message of receiver.received.filter(({ path }) => !path.includes("second")))
    verifyWithOfficial(secret, message);
});

test("without the key, or with another one, neither serve nor what writes secrets starts, and the message names the key", async () => {
  const machine = machineOnDisk();
  await machine.createEndpoint();
  useKeyFile(machine);
  const { webhook } = await addWebhookAfterRotation(machine);
  const [{ id }] = (await statusOf(machine)).keys as [Status["keys"][0]];
  const file = keyFileOf(machine);
  rmSync(file);
  await expectRefused(
    machine,
    ["serve", "--port", "0"],
    /secrets\.key: there is no such file; bring it back/,
  );
  const missing = new RegExp(`encrypted with the key ${id}, which ./secrets.key does not hold`);
  await expectRefused(machine, ["secrets", "rotate"], missing);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, `${newKey()}\n`, { mode: 0o600 });
  const rotateSecret = ["webhook", "rotate-secret", webhook.id];
  for (const args of [["serve", "--port", "0"], rotateSecret, ["secrets", "rotate"], ["secrets", "encrypt"]])
    await expectRefused(machine, args, missing);
  expect((await machine.run(["doctor"])).stdout).toMatch(/PROBLEM +secrets\.encryption/);
  chmodSync(file, 0o644);
  await expectRefused(
    machine,
    ["serve", "--port", "0"],
    /secrets\.key: everybody may read it; close it with: chmod 600/,
  );
  machine.configure({});
  await expectRefused(
    machine,
    ["serve", "--port", "0"],
    new RegExp(`the key ${id}, and no key is configured`),
  );
  // What needs no secret goes on: a webhook can be looked at, held and deleted.
  const shown = await machine.mustRun(["webhook", "show", webhook.id]);
  expect(shown.stdout).toContain("authorization");
  await machine.mustRun(["webhook", "delete", webhook.id, "--yes"]);
  await machine.mustRun(["backup", "copy.db"]);
  expect((await machine.run(["doctor"])).code).toBe(0);
});

test("a key from the environment encrypts too; a command does not change it, and encrypt carries over to a newer one", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  await addWebhook(machine, "https://example.com/");
  const [older, newer] = [newKey(), newKey()];
  const run = (args: string[], keys: string) =>
    machine.run([...args, "--json"], { env: { FORMSVC_SECRETS_KEY: keys } });
  expect((await run(["secrets", "encrypt"], older)).json()).toMatchObject({ encrypted: 2 });
  const refused = await run(["secrets", "rotate"], older);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("write a new one and a comma before it");
  expect((await run(["secrets", "encrypt"], `${newer},${older}`)).json()).toMatchObject({ encrypted: 2 });
  expect((await run(["webhook", "list"], newer)).code).toBe(0);
  expect((await run(["secrets", "decrypt"], newer)).json()).toEqual({ decrypted: 2 });
  const shown = await run(["config", "show"], newer);
  expect(shown.json()).toMatchObject({ secrets: { key: "[redacted]", keyFile: null } });
  for (const args of [
    ["config", "check"],
    ["serve", "--port", "0"],
  ]) {
    const short = await run(args, newer.slice(4));
    expect(short.code, args.join(" ")).not.toBe(0);
    expect(short.stdout + short.stderr).toMatch(/secrets\.key: key 1 is not the base64 of 32 bytes/);
    expect(short.stdout + short.stderr).not.toContain(newer.slice(8, 30));
  }
  const both = { FORMSVC_SECRETS_KEY: newer, FORMSVC_SECRETS_KEY_FILE: "a.key" };
  const two = await machine.run(["config", "check"], { env: both });
  expect(two.code).toBe(2);
  expect(two.stderr).toContain("write keyFile or key, not both");
});

test("an encryption that was interrupted is a problem for doctor until it is finished; plain secrets without a key are a remark", async () => {
  const machine = machineOnDisk();
  await machine.createEndpoint();
  await addWebhook(machine, "https://example.com/");
  await machine.mustRun(["backup", "copy.db"]);
  const plain = await machine.run(["doctor"]);
  expect(plain.code).toBe(0);
  expect(plain.stderr).toMatch(/ok +secrets\.encryption +secrets: 2, plain: the database and its backups/);
  await expectRefused(machine, ["secrets", "encrypt"], /no key is configured: set secrets.keyFile/);
  await expectRefused(machine, ["secrets", "rotate"], /no key is configured: set secrets.keyFile/);
  useKeyFile(machine);
  writeFileSync(keyFileOf(machine), newKey(), { mode: 0o600 });
  const begun = await machine.run(["doctor"]);
  expect(begun.code).toBe(1);
  expect(begun.stdout).toMatch(/under an older key: 2\n +-> finish with: formsvc secrets encrypt/);
  await machine.mustRun(["secrets", "encrypt"]);
  expect((await machine.run(["doctor"])).code).toBe(0);
  expect((await machine.mustRun(["secrets", "status"])).stdout).toMatch(
    /\w{8} +2 +in .\/secrets.key\nnone +0/,
  );
});

async function addWebhookAfterRotation(machine: OperatorMachine): Promise<Created> {
  await machine.mustRun(["secrets", "rotate"]);
  return addWebhook(machine, "https://example.com/");
}

async function expectRefused(machine: OperatorMachine, args: string[], why: RegExp): Promise<void> {
  const { code, stderr } = await machine.run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(why) });
  expect(stderr.trim().split("\n")).toHaveLength(1);
}
