import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf } from "../support/uploads.ts";

/** In the middle of each chunk of a file. */
const MARK = "3f1c9a77-only-here-5d20";

function databaseContent(path: string): string {
  return [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file, "latin1") : "")).join("");
}

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
  expect(databaseContent(server.databasePath)).toContain(MARK);
  const path = `/submissions/${String(json["submission_id"])}`;
  expect(await server.request({ method: "DELETE", path, headers: { authorization } })).toMatchObject({
    status: 204,
  });
  // A start does what a running server does within a minute.
  await server.restart();
  await until(() => !databaseContent(server.databasePath).includes(MARK));
  expect(server.owner.prepare("SELECT count(*) FROM file").pluck().get()).toBe(0);
});
