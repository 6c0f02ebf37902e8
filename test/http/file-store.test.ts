import { describe, expect, test } from "vitest";
import { type ScriptedStore, startScriptedStore, type Treatment } from "../support/scripted-store.ts";
import { type ConfigOverrides, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, postFiles, sha256, storedFiles } from "../support/uploads.ts";
import { type Bucket, hasVersitygw, startVersitygw } from "../support/versitygw.ts";
import { HOUR_MS } from "../../src/foundation/time-units.ts";

function filesIn(s3: Bucket["settings"] | ScriptedStore["settings"]): ConfigOverrides {
  return { files: { storage: "s3", s3 } };
}

async function apply(server: TestServer, secret: string, bytes: Buffer) {
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  const authorized = { authorization: `Bearer ${secret}`, ...headers };
  return server.request({ method: "POST", path: "/submit", headers: authorized, body });
}

async function read(server: TestServer, secret: string, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
    redirect: "manual",
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** The clean-ups of every minute, which run at each start too. */
function cleanUp(server: TestServer): Promise<void> {
  return server.restart();
}

describe.skipIf(!hasVersitygw)("files in a real S3 server", () => {
  test("are there when the post is answered, are read through this server with the same headers, and end with their submission", async () => {
    const bucket = await startVersitygw("forms/");
    const server = await startServer(filesIn(bucket.settings));
    const { secret } = await server.addEndpoint({ schema: applicationSchema });
    const bytes = pdf(700_001);
    const { id, files } = await postFiles(server, secret, [
      ["name", "Ana"],
      ["cv", { name: "../../cv.pdf", bytes }],
    ]);
    const [file] = files;
    const objects = [...bucket.objects()];
    expect(objects.map(([name]) => name)).toEqual([
      expect.stringMatching(new RegExp(`^forms/${file?.id}-[0-9a-f]{16}$`)),
    ]);
    expect(objects[0]?.[1].equals(bytes)).toBe(true);
    expect(storedFiles(server.owner).chunks).toBe(0);

    const path = `/submissions/${id}/files/${file?.id}`;
    const whole = await read(server, secret, path);
    expect([whole.status, sha256(whole.bytes)]).toEqual([200, sha256(bytes)]);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": "attachment; filename=\"cv.pdf\"; filename*=UTF-8''cv.pdf",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "no-store",
    });
    const part = await read(server, secret, path, { range: "bytes=262140-262150" });
    expect([part.status, part.headers.get("content-range"), part.bytes.toString("hex")]).toEqual([
      206,
      "bytes 262140-262150/700001",
      bytes.subarray(262_140, 262_151).toString("hex"),
    ]);

    const authorization = `Bearer ${secret}`;
    await server.request({ method: "DELETE", path: `/submissions/${id}`, headers: { authorization } });
    await cleanUp(server);
    await until(() => bucket.objects().size === 0 || undefined);
    expect(storedFiles(server.owner).files).toEqual([]);
  });
});

const AWAY: readonly Treatment[] = [
  "fail",
  "forbid",
  "stall",
  "deaf",
  "redirect",
  "chatter",
  "cut",
  "halve",
  "forget",
];

describe("a store that does not do what it is asked", () => {
  test.each(AWAY)(
    "refuses posts with files and no others, and leaves nothing behind: %s",
    async (treatment) => {
      const scripted = await startScriptedStore(treatment === "stall" || treatment === "deaf" ? 300 : 30_000);
      const server = await startServer(filesIn(scripted.settings));
      const { secret, id } = await server.addEndpoint({ schema: applicationSchema });
      const other = await server.addEndpoint({ schema: { name: { type: "string" } } });
      scripted.treat = ({ method }) => (method === "PUT" ? treatment : "ok");
      const refused = await apply(server, secret, pdf(600_000));
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "10"]);
      expect(refused.json["message"]).toBe("the store of files does not answer; try again shortly");
      expect((await server.post(other.secret, { name: "Bo" })).status).toBe(200);
      expect(server.stored(id)).toEqual([]);

      // What may have come all the same is deleted twice: now, and when nothing can be on its way any more.
      await until(() => storedFiles(server.owner).files.length === 0 || undefined);
      scripted.treat = () => "ok";
      await cleanUp(server);
      await until(() => scripted.objects.size === 0 || undefined);
      server.clock.advance(HOUR_MS + 1);
      await cleanUp(server);
      const waiting = server.owner.prepare("SELECT count(*) FROM file_deletion").pluck();
      await until(() => waiting.get() === 0 || undefined);
      const accepted = await apply(server, secret, pdf(600_000));
      expect([accepted.status, scripted.objects.size]).toEqual([200, 1]);
    },
  );

  test("is said in the log once", async () => {
    const scripted = await startScriptedStore();
    const server = await startServer(filesIn(scripted.settings));
    const { secret } = await server.addEndpoint({ schema: applicationSchema });
    scripted.treat = () => "forbid";
    expect((await apply(server, secret, pdf())).status).toBe(503);
    expect((await apply(server, secret, pdf())).status).toBe(503);
    const said = server.log.filter((line) => line.includes("files.store-failed"));
    expect(said.map((line) => (JSON.parse(line) as { fault: string }).fault)).toEqual([
      "answered 403 (AccessDenied)",
    ]);
  });

  test("never has a download end that is not the file that was sent", async () => {
    const scripted = await startScriptedStore();
    const server = await startServer(filesIn(scripted.settings));
    const { secret } = await server.addEndpoint({ schema: applicationSchema });
    const bytes = pdf(2_000_000);
    const { id, files } = await postFiles(server, secret, [
      ["name", "Ana"],
      ["cv", { name: "cv.pdf", bytes }],
    ]);
    const path = `/submissions/${id}/files/${files[0]?.id}`;
    const statuses = new Map<Treatment, number | "broken off">();
    for (const treatment of ["fail", "forbid", "redirect", "lie", "cut", "damage"] as const) {
      scripted.treat = () => treatment;
      const answer = await read(server, secret, path).catch(() => null);
      statuses.set(treatment, answer?.status ?? "broken off");
    }
    expect(Object.fromEntries(statuses)).toEqual({
      fail: 503,
      forbid: 503,
      redirect: 503,
      lie: 503,
      cut: "broken off",
      damage: "broken off",
    });
    scripted.treat = () => "ok";
    expect(sha256((await read(server, secret, path)).bytes)).toBe(sha256(bytes));
    scripted.objects.clear();
    const gone = await read(server, secret, path);
    expect([gone.status, gone.headers.get("content-disposition")]).toEqual([410, null]);
  });
});

test("files stay in the database in which they are when the setting is changed, and both kinds are read", async () => {
  const scripted = await startScriptedStore();
  const server = await startServer({ files: { s3: scripted.settings } });
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const [before, after] = [pdf(300_000, "before"), pdf(300_000, "after")];
  const first = await postFiles(server, secret, [
    ["name", "Ana"],
    ["cv", { name: "a.pdf", bytes: before }],
  ]);
  expect(scripted.objects.size).toBe(0);
  Object.assign(server.config.files, { storage: "s3" });
  await server.restart();
  const second = await postFiles(server, secret, [
    ["name", "Bo"],
    ["cv", { name: "b.pdf", bytes: after }],
  ]);
  expect([scripted.objects.size, storedFiles(server.owner).chunks]).toEqual([1, 2]);
  for (const [{ id, files }, bytes] of [
    [first, before],
    [second, after],
  ] as const) {
    const answer = await read(server, secret, `/submissions/${id}/files/${files[0]?.id}`);
    expect(sha256(answer.bytes)).toBe(sha256(bytes));
  }
});
