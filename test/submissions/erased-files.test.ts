import { existsSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { ENDPOINT_CONTENTS, WORKSPACE_CONTENTS } from "../../src/app/features.ts";
import type { Database } from "../../src/database/database.ts";
import { deleteEndpoint } from "../../src/endpoints/delete-endpoint.ts";
import { erasePersonRecords } from "../../src/submissions/manage/person-operations.ts";
import { expireSubmissions } from "../../src/submissions/stored/retention.ts";
import { deleteWorkspace } from "../../src/workspaces/delete-workspace.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { addPlace, type Place } from "../support/batch-world.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { performOn } from "../support/terminal.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { addSubmissionWithFile, applicationSchema, multipart, pdf, postFiles } from "../support/uploads.ts";
import { visit } from "../support/visitor.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

/** In the middle of each chunk of a file. */
const MARK = "3f1c9a77-only-here-5d20";

function databaseContent(path: string): string {
  return [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file, "latin1") : "")).join("");
}

/** A server with a file that has the mark in each chunk, and whoever may delete it. */
async function world() {
  const server = await startServer();
  const ada = await visit(server);
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const bytes = pdf(600_000);
  for (const at of [1000, 300_000, 599_000]) bytes.write(MARK, at, "latin1");
  const { id, files } = await postFiles(server, endpoint.secret, [
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  expect(databaseContent(server.databasePath).includes(MARK)).toBe(true);
  const ask = askWith(server, await makeToken(server));
  const isGone = () => {
    expect(databaseContent(server.databasePath).includes(MARK)).toBe(false);
    expect(server.owner.prepare("SELECT count(*) FROM file").pluck().get()).toBe(0);
  };
  return { server, ada, endpoint, ask, submission: id, file: files[0]?.id ?? "", isGone };
}

type World = Awaited<ReturnType<typeof world>>;

/** Each way in which people and programs delete what was sent. */
const ways: readonly (readonly [name: string, erase: (world: World) => Promise<unknown>])[] = [
  [
    "the API erases a person",
    ({ ask, submission }) => ask("POST", "/submissions/erase", { body: { submissions: [submission] } }),
  ],
  [
    "the API deletes a submission for good",
    ({ ask, submission }) =>
      ask("POST", "/submissions/delete", { body: { submissions: [submission], now: true } }),
  ],
  ["the API deletes a file", ({ ask, file }) => ask("DELETE", `/files/${file}`)],
  ["the API deletes an endpoint", ({ ask, endpoint }) => ask("DELETE", `/endpoints/${endpoint.id}`)],
  [
    "the API deletes a workspace",
    ({ ask, endpoint }) => ask("DELETE", `/workspaces/${endpoint.workspaceId}`),
  ],
  [
    "the bin is emptied",
    async ({ ask, submission, endpoint }) => {
      await ask("POST", "/submissions/delete", { body: { submissions: [submission] } });
      return ask("POST", "/submissions/empty-bin", { body: { endpoint: endpoint.id } });
    },
  ],
  [
    "a page deletes a file",
    ({ ada, submission, file }) => ada.post(`/dashboard/submissions/${submission}/files/${file}/delete`),
  ],
  [
    "a page deletes a submission for good",
    ({ ada, submission }) => ada.post("/dashboard/bulk", { do: "purge", id: submission, confirmed: "yes" }),
  ],
  [
    "a page empties the bin",
    async ({ ada, submission }) => {
      await ada.post("/dashboard/bulk", { do: "delete", id: submission });
      return ada.post("/dashboard/empty-bin", { confirmed: "yes" });
    },
  ],
  [
    "a page deletes an endpoint",
    ({ ada, endpoint }) => ada.post(`/dashboard/endpoints/${endpoint.id}/delete`, { confirm: "Contact" }),
  ],
];

test.each(ways)("when %s, no byte of its files is left when the answer is there", async (_name, erase) => {
  const made = await world();
  expect(await erase(made)).toSatisfy(({ status }: { status: number }) => status < 400);
  made.isGone();
});

test("files that are deleted while the process ends are gone after the next start", async () => {
  const { server, submission, file } = await world();
  // As far as the first transaction of a deletion came.
  server.owner.prepare("UPDATE file SET submission_id = NULL WHERE id = ?").run(file);
  server.owner.prepare("DELETE FROM submission WHERE id = ?").run(submission);
  await server.restart();
  await until(() => !databaseContent(server.databasePath).includes(MARK));
  expect(server.owner.prepare("SELECT count(*) FROM file_chunk").pluck().get()).toBe(0);
});

test("of the files of a deleted submission no byte is left in the database file or its log", async () => {
  const server = await startServer();
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const authorization = `Bearer ${secret}`;
  const bytes = pdf(600_000);
  for (const at of [1000, 300_000, 599_000]) bytes.write(MARK, at, "latin1");
  const form = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  const headers = { authorization, ...form.headers };
  const { json } = await server.request({ method: "POST", path: "/submit", headers, body: form.body });
  expect(databaseContent(server.databasePath).includes(MARK)).toBe(true);
  const path = `/submissions/${String(json["submission_id"])}`;
  expect(await server.request({ method: "DELETE", path, headers: { authorization } })).toMatchObject({
    status: 204,
  });
  // A start does what a running server does within a minute.
  await server.restart();
  await until(() => !databaseContent(server.databasePath).includes(MARK));
  expect(server.owner.prepare("SELECT count(*) FROM file").pluck().get()).toBe(0);
});

test("when a submission with files is older than its endpoint keeps it, no byte of them is left", async () => {
  const { server, ask, endpoint, isGone } = await world();
  const set = await ask("PATCH", `/endpoints/${endpoint.id}`, { body: { keep_days: 30 } });
  expect(set.status).toBe(200);
  const later = server.clock.now() + 31 * DAY_MS;
  expect(await server.owner.transaction(() => expireSubmissions(30, later))).toBe(1);
  // A start does what a running server does within a minute.
  await server.restart();
  await until(() => !databaseContent(server.databasePath).includes(MARK));
  isGone();
});

/** What operations delete beside the rows of their own. */
const contents = { endpointContents: ENDPOINT_CONTENTS, workspaceContents: WORKSPACE_CONTENTS };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test.each<readonly [string, (db: Database, place: Place, submission: string) => Promise<unknown>]>([
    [
      "the erasure of a person",
      (db, _place, submission) => performOn(db, erasePersonRecords, { submissions: [submission] }),
    ],
    [
      "the deletion of an endpoint",
      (db, place) => performOn(db, deleteEndpoint, { endpoint: place.endpointId }, { parts: contents }),
    ],
    [
      "the deletion of a workspace",
      (db, place) => performOn(db, deleteWorkspace, { workspace: place.workspaceId }, { parts: contents }),
    ],
  ])("%s leaves no row of a file and no chunk, and those of others", async (_name, erase) => {
    const db = await temporary();
    const [doomed, other] = [await addPlace(db), await addPlace(db, "ben")];
    const { submissionId } = await addSubmissionWithFile(db, doomed, pdf(600_000));
    const kept = await addSubmissionWithFile(db, other, pdf(2000));
    await erase(db, doomed, submissionId);
    expect(await rowsOf(db, "SELECT id FROM file")).toEqual(kept.fileIds.map((id) => ({ id })));
    expect(await rowsOf(db, "SELECT file_id AS id FROM file_chunk")).toEqual(
      kept.fileIds.map((id) => ({ id })),
    );
  });
});

test.skipIf(!hasPostgresql)(
  "on PostgreSQL, VACUUM takes the bytes of an erased file off the disk",
  async () => {
    const address = await temporaryAddress();
    const db = await openForTest(address);
    const admin = await connectPlainly(address);
    onTestFinished(() => admin.end());
    /** Whether the tables on the disk have the mark: the rows of chunks, and their bytes, which PostgreSQL keeps beside them. */
    const isOnDisk = async (): Promise<boolean> => {
      await admin.query("CHECKPOINT");
      const { rows } = await admin.query<{ found: boolean }>(
        `SELECT bool_or(position($1::bytea IN pg_read_binary_file(pg_relation_filepath(oid))) > 0) AS found FROM pg_class
       WHERE oid = 'file_chunk'::regclass OR oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'file_chunk'::regclass)`,
        [Buffer.from(MARK)],
      );
      return rows[0]?.found ?? false;
    };
    const bytes = pdf(600_000);
    // Some of them are whole in the pieces of 2 KB in which PostgreSQL keeps large values.
    for (let at = 5000; at < 590_000; at += 10_111) bytes.write(MARK, at, "latin1");
    const { submissionId } = await addSubmissionWithFile(db, await addPlace(db), bytes);
    expect(await isOnDisk()).toBe(true);
    await performOn(db, erasePersonRecords, { submissions: [submissionId] });
    await admin.query("VACUUM file_chunk");
    expect(await isOnDisk()).toBe(false);
  },
);
