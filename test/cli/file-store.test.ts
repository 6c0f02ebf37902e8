import { chmodSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { type ScriptedStore, startScriptedStore } from "../support/scripted-store.ts";
import { addressInCluster, hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";
import { applicationSchema, pdf, postFiles, sha256 } from "../support/uploads.ts";

const bytes = pdf(600_000);

function settingsOf({ settings }: ScriptedStore) {
  return { files: { minFreeBytes: 0, storage: "s3", s3: settings } };
}

/** A machine whose server took a post with a file, which is in the store. */
async function filledMachine() {
  const store = await startScriptedStore();
  const machine = operatorMachine(settingsOf(store));
  const endpoint = await machine.createEndpoint({ schema: applicationSchema });
  const server = await machine.serveHere();
  const { id, files } = await postFiles(server, endpoint.secret, [
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  return { store, machine, endpoint, server, submission: id, file: files[0]?.id ?? "" };
}

async function savedBy(machine: OperatorMachine, file: string, ...args: string[]): Promise<string> {
  const name = `saved-${args.join("-").replaceAll(/\W/g, "")}.pdf`;
  await machine.mustRun(["file", "save", file, name, ...args]);
  return sha256(readFileSync(machine.path(name)));
}

const OUTSIDE = "the bytes of 1 file are in the S3-compatible store (files.s3) and not in the database";

test("a backup of a server with a store holds the database alone and says so; restored, it reads the same files", async () => {
  const { store, machine, server, file } = await filledMachine();
  expect((await machine.mustRun(["backup", "copy.db"])).stderr).toContain(OUTSIDE);
  const { backup } = await machine.json(["backup", "more.db", "--without-files"]);
  expect(backup).toMatchObject({ outside_files: 1, left_out_files: 0 });
  await server.stop();
  const other = operatorMachine(settingsOf(store));
  expect((await other.mustRun(["restore", machine.path("copy.db"), "--yes"])).stderr).toContain(OUTSIDE);
  expect(await savedBy(other, file)).toBe(sha256(bytes));
});

test("a person whom the command erases leaves nothing in the store; while it does not answer, doctor tells since when deletions wait", async () => {
  const { store, machine, server } = await filledMachine();
  store.treat = ({ method }) => (method === "DELETE" ? "forbid" : "ok");
  await machine.mustRun(["submission", "find", "--field", "name=Ana", "--erase", "--yes"]);
  await server.stop();
  expect(store.objects.size).toBe(1);
  const waiting = await machine.run(["doctor"]);
  expect(waiting.stderr).toMatch(/files\.deletions +1 deleted file waits for the store of files, since 20/);
  expect(waiting.stdout).toMatch(/PROBLEM +files\.store +the S3-compatible store of files answered 403/);
  store.treat = () => "ok";
  const restarted = await machine.serveHere();
  // The probe of doctor could not be deleted either, and is by the next one.
  const left = (): string[] => [...store.objects.keys()];
  await until(() => left().join() === "formsvc-probe" || undefined);
  await restarted.stop();
  const sound = await machine.run(["doctor"]);
  expect(left()).toEqual([]);
  expect(sound.stderr).toMatch(/files\.store +the S3-compatible store of files stores, reads and deletes/);
  expect(sound.stderr).toMatch(/files\.deletions +no deleted file waits/);
});

test("a file that is deleted by the command is gone from the store when the command ends", async () => {
  const { store, machine, file } = await filledMachine();
  await machine.mustRun(["file", "delete", file, "--yes"]);
  expect(store.objects.size).toBe(0);
});

test("an import brings files into the store, and doctor names a store that the configuration has lost", async () => {
  const { store, machine, server } = await filledMachine();
  const args = ["--format", "ndjson", "--output", "all.ndjson", "--files", "folder"];
  await machine.mustRun(["submission", "export", ...args]);
  await machine.mustRun(["submission", "find", "--field", "name=Ana", "--erase", "--yes"]);
  expect(store.objects.size).toBe(0);
  const imported = await machine.mustRun(["submission", "import", "all.ndjson", "--files", "folder"]);
  expect(imported.stderr).toContain("1 file added");
  expect([...store.objects.values()].map(sha256)).toEqual([sha256(bytes)]);
  await server.stop();
  machine.configure({ files: { minFreeBytes: 0 } });
  expect((await machine.run(["doctor"])).stdout).toMatch(
    /PROBLEM +files\.deletions +there are files in an S3-compatible store that the configuration does not name/,
  );
});

test("config check reads the file of the secret, which not everybody may read", async () => {
  const machine = operatorMachine();
  const file = machine.path("secret");
  const s3 = {
    endpoint: "http://127.0.0.1:1",
    bucket: "formsvc-files",
    region: "r",
    accessKeyId: "a",
    secretAccessKeyFile: file,
  };
  machine.configure({ files: { storage: "s3", s3 } });
  const check = () => machine.run(["config", "check"]);
  const said = (words: string) => ({ code: 2, stderr: expect.stringContaining(words) as string });
  expect(await check()).toMatchObject(said("files.s3.secretAccessKeyFile"));
  machine.write("secret", "\n");
  chmodSync(file, 0o600);
  expect(await check()).toMatchObject(said("its first line is empty"));
  machine.write("secret", "the secret\n");
  expect((await check()).code).toBe(0);
  chmodSync(file, 0o644);
  expect(await check()).toMatchObject(said("chmod 600"));
});

describe.skipIf(!hasPostgresql)("with PostgreSQL", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("a copy to PostgreSQL and one back read the same files from the store", async () => {
    const { machine, server, file } = await filledMachine();
    await server.stop();
    const address = await temporaryAddress("TEMPLATE template0");
    expect((await machine.mustRun(["copy", "--to", address])).stderr).toContain(OUTSIDE);
    expect(await savedBy(machine, file, "--db", address)).toBe(sha256(bytes));
    await machine.mustRun(["copy", "--db", address, "--to", "back.db"]);
    expect(await savedBy(machine, file, "--db", "back.db")).toBe(sha256(bytes));
  });

  test("two servers share a store: what one took, the other one gives", async () => {
    const store = await startScriptedStore();
    const machine = operatorMachine({
      ...settingsOf(store),
      database: { url: await temporaryAddress("TEMPLATE template0") },
    });
    const endpoint = await machine.createEndpoint({ schema: applicationSchema });
    const [one, other] = [await machine.serve(), await machine.serve()];
    const { id, files } = await postFiles(one, endpoint.secret, [
      ["name", "Ana"],
      ["cv", { name: "cv.pdf", bytes }],
    ]);
    expect(store.objects.size).toBe(1);
    const answer = await fetch(`${other.url}/submissions/${id}/files/${files[0]?.id}`, {
      headers: { authorization: `Bearer ${endpoint.secret}` },
    });
    expect([answer.status, sha256(Buffer.from(await answer.arrayBuffer()))]).toEqual([200, sha256(bytes)]);
  });
});
