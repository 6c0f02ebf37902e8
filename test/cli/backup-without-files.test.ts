import { copyFileSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openFileLinks, openKeyring } from "../../src/app/features.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/database/sqlite/open-database.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { applicationSchema, pdf, postFiles } from "../support/uploads.ts";

const SIZE = 1_000_000;
const bytes = pdf(SIZE);
/** Of its second chunk. */
const part = bytes.subarray(500_000, 500_064);
const settings = { files: { minFreeBytes: 0 } };

/** A machine whose database has a submission with a file. */
async function machineWithFile() {
  const machine = operatorMachine(settings);
  const { secret } = await machine.createEndpoint({ schema: applicationSchema });
  const server = await machine.serveHere();
  const { id, files } = await postFiles(server, secret, [
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  return { machine, server, submission: id, file: files[0]?.id ?? "", headers: authorized(secret) };
}

function authorized(secret: string) {
  return { authorization: `Bearer ${secret}` };
}

/** The path and query of a file's signed address. */
async function signedPath(database: string, file: string): Promise<string> {
  const db = openDatabase(database, { busyTimeoutMs: 10_000 });
  try {
    const keyring = await db.read(() => openKeyring(defaultConfig));
    const data = await openFileLinks({ db, config: defaultConfig }, keyring).link(
      { cv: [{ id: file, name: "cv.pdf", size: SIZE, type: "application/pdf", sha256: "" }] },
      Date.now(),
      [file],
    );
    const { cv } = JSON.parse(data) as { cv: [{ url: string }] };
    const { pathname, search } = new URL(cv[0].url);
    return pathname + search;
  } finally {
    db.close();
  }
}

function holds(machine: OperatorMachine, name: string, some: Buffer): boolean {
  return readFileSync(machine.path(name)).includes(some);
}

test("a backup without files has none of their bytes, and says so", async () => {
  const { machine, server } = await machineWithFile();
  expect((await machine.mustRun(["backup", "whole.db"])).stderr).not.toContain("without");
  const told = await machine.mustRun(["backup", "bare.db", "--without-files"]);
  expect(told.stderr).toContain("without the bytes of 1 file (--without-files)");
  const { backup } = await machine.json(["backup", "more.db", "--without-files"]);
  expect(backup).toMatchObject({ submissions: 1, left_out_files: 1 });
  expect(holds(machine, "whole.db", part)).toBe(true);
  expect(holds(machine, "bare.db", part)).toBe(false);
  expect(readFileSync(machine.path("bare.db")).length).toBeLessThan(SIZE);
  expect(holds(machine, "formsvc.db", part) || holds(machine, "formsvc.db-wal", part)).toBe(true);
  await server.stop();
});

test("a server on a backup without files answers each way to a file with 410, and tells how many are not there", async () => {
  const { machine, server, submission, file, headers } = await machineWithFile();
  const signed = await signedPath(machine.database, file);
  await machine.mustRun(["backup", "bare.db", "--without-files"]);
  await server.stop();

  const other = operatorMachine(settings);
  copyFileSync(machine.path("bare.db"), other.database);
  const restored = await other.serveHere();
  const ways = [
    { path: `/submissions/${submission}/files/${file}`, headers },
    { path: signed, headers: {} },
  ];
  for (const { path, headers: sent } of ways) {
    const answer = await fetch(restored.url + path, { headers: sent });
    expect([path, answer.status, await answer.text()]).toEqual([
      path,
      410,
      expect.stringContaining("not in this backup"),
    ]);
  }
  const saved = await other.run(["file", "save", file, "cv.pdf"]);
  expect([saved.code, saved.stderr]).toEqual([1, expect.stringContaining("not in this backup")]);
  const args = [
    "submission",
    "export",
    "--format",
    "ndjson",
    "--output",
    "all.ndjson",
    "--files",
    "all-files",
  ];
  const exported = await other.run(args);
  expect([exported.code, exported.stderr]).toEqual([1, expect.stringContaining(file)]);
  expect(readFileSync(other.path("all.ndjson"), "utf8")).toContain(submission);
  expect((await other.run(["doctor"])).stderr).toContain("the bytes of 1 file are not here");
  await restored.stop();
});

test.skipIf(!hasPostgresql)("a backup of PostgreSQL can be made without files too", async () => {
  const { machine, server } = await machineWithFile();
  await server.stop();
  const address = await temporaryAddress("TEMPLATE template0");
  await machine.mustRun(["copy", "--to", address]);
  const make = (...args: string[]) => machine.json(["backup", ...args, "--db", address]);
  expect((await make("whole.db"))["backup"]).not.toHaveProperty("left_out_files");
  expect((await make("bare.db", "--without-files"))["backup"]).toMatchObject({
    submissions: 1,
    left_out_files: 1,
  });
  expect(holds(machine, "whole.db", part)).toBe(true);
  expect(holds(machine, "bare.db", part)).toBe(false);
});
