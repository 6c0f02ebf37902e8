import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { addressInCluster, hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { applicationSchema, pdf, type PostedFacts, postFiles, sha256 } from "../support/uploads.ts";

const settings = { files: { minFreeBytes: 0 } };
/** Of three chunks and of one. */
const FILES = [
  { name: "cv.pdf", bytes: pdf(600_000, "long") },
  { name: "letter.pdf", bytes: pdf(3000, "short") },
];

async function postBoth(url: string, secret: string) {
  const parts = FILES.map((file) => ["cv", file] as const);
  return postFiles({ url }, secret, [["name", "Ana"], ...parts]);
}

/** What `file save` writes of each file, as its SHA-256. */
async function savedBy(machine: OperatorMachine, files: readonly PostedFacts[], ...args: string[]) {
  const saved: string[] = [];
  for (const { id } of files) {
    await machine.mustRun(["file", "save", id, `${id}-${args.length}.out`, ...args]);
    saved.push(sha256(readFileSync(machine.path(`${id}-${args.length}.out`))));
  }
  return saved;
}

const SAME = FILES.map(({ bytes }) => sha256(bytes));

async function filledMachine() {
  const machine = operatorMachine(settings);
  const endpoint = await machine.createEndpoint({ schema: applicationSchema });
  const server = await machine.serveHere();
  const posted = await postBoth(server.url, endpoint.secret);
  return { machine, endpoint, server, ...posted };
}

test("a backup that is restored in another folder has the same files, which are read with the same keys", async () => {
  const { machine, endpoint, server, id, files } = await filledMachine();
  await machine.mustRun(["backup", "copy.db"]);
  await server.stop();
  const other = operatorMachine(settings);
  await other.mustRun(["restore", machine.path("copy.db"), "--yes"]);
  expect(await savedBy(other, files)).toEqual(SAME);
  const restored = await other.serveHere();
  const read = await Promise.all(
    files.map(async (file) => {
      const answer = await fetch(`${restored.url}/submissions/${id}/files/${file.id}`, {
        headers: { authorization: `Bearer ${endpoint.secret}` },
      });
      return sha256(Buffer.from(await answer.arrayBuffer()));
    }),
  );
  expect(read).toEqual(SAME);
});

test("a person whom the command erases leaves no byte of a file in the database or its log", async () => {
  const { machine, server } = await filledMachine();
  const holds = (): boolean =>
    ["formsvc.db", "formsvc.db-wal"]
      .map((name) => machine.path(name))
      .filter((path) => existsSync(path))
      .some((path) => FILES.some(({ bytes }) => readFileSync(path).includes(bytes.subarray(1000, 1064))));
  expect(holds()).toBe(true);
  await machine.mustRun(["submission", "find", "--field", "name=Ana", "--erase", "--yes"]);
  expect(holds()).toBe(false);
  await server.stop();
  expect(holds()).toBe(false);
});

describe.skipIf(!hasPostgresql)("with PostgreSQL", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("files are the same after a copy to PostgreSQL, and after one back into a file", async () => {
    const { machine, server, files } = await filledMachine();
    await server.stop();
    const address = await temporaryAddress("TEMPLATE template0");
    const { tables } = await machine.json<{ tables: object }>(["copy", "--to", address]);
    expect(tables).toMatchObject({ file: 2, file_chunk: 4 });
    expect(await savedBy(machine, files, "--db", address)).toEqual(SAME);
    await machine.mustRun(["copy", "--db", address, "--to", "back.db"]);
    const other = operatorMachine(settings);
    expect(await savedBy(other, files, "--db", machine.path("back.db"))).toEqual(SAME);
  });

  test("what one of two servers took, the other one gives", async () => {
    const machine = operatorMachine({
      ...settings,
      database: { url: await temporaryAddress("TEMPLATE template0") },
    });
    const endpoint = await machine.createEndpoint({ schema: applicationSchema });
    const [one, other] = [await machine.serve(), await machine.serve()];
    const { id, files } = await postBoth(one.url, endpoint.secret);
    for (const [index, file] of files.entries()) {
      const answer = await fetch(`${other.url}/submissions/${id}/files/${file.id}`, {
        headers: { authorization: `Bearer ${endpoint.secret}` },
      });
      expect([answer.status, sha256(Buffer.from(await answer.arrayBuffer()))]).toEqual([200, SAME[index]]);
    }
  });
});
