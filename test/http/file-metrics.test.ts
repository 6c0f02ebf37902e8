import { expect, test } from "vitest";
import { openRaw } from "../support/http-client.ts";
import { EICAR, scriptedClamd } from "../support/scripted-clamd.ts";
import { startScriptedStore } from "../support/scripted-store.ts";
import { type ConfigOverrides, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, postFiles } from "../support/uploads.ts";

const TOKEN = "a-token-of-thirty-two-characters";
const form = (bytes: Buffer) => [["name", "Ana"] as const, ["cv", { name: "cv.pdf", bytes }] as const];

async function start(files: ConfigOverrides["files"] = {}) {
  const server = await startServer({ files, metrics: { enabled: true, token: TOKEN } });
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  return { server, endpoint };
}

/** The values that concern files, without the beginning that all names have. */
async function metricsOf({ url }: TestServer): Promise<Record<string, number>> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const found = (await answer.text()).matchAll(/^formsvc_(file[^ ]*) (\S+)$/gm);
  return Object.fromEntries([...found].map(([, name, value]) => [name, Number(value)]));
}

test("metrics have the bytes of all files, what they may take, and what is on its way", async () => {
  const { server, endpoint } = await start({ maxTotalBytes: 5_000_000 });
  expect(await metricsOf(server)).toMatchObject({
    file_bytes: 0,
    file_max_bytes: 5_000_000,
    file_spool_bytes: 0,
  });
  await postFiles(server, endpoint.secret, form(pdf(70_000)));
  await postFiles(server, endpoint.secret, form(pdf(3000)));
  expect(await metricsOf(server)).toMatchObject({ file_bytes: 73_000, file_spool_bytes: 0 });
  const { headers, body } = await multipart(form(pdf(200_000)));
  const connection = await openRaw(server.port);
  connection.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${endpoint.secret}\r\n` +
      `Content-Type: ${headers["content-type"]}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  connection.write(body.subarray(0, 150_000));
  await until(async () => ((await metricsOf(server))["file_spool_bytes"] ?? 0) > 140_000);
  connection.socket.destroy();
  await until(async () => (await metricsOf(server))["file_spool_bytes"] === 0);
  expect(await metricsOf(server)).toMatchObject({ file_bytes: 73_000 });
});

test("metrics count scans by their result, and the files that have no verdict", async () => {
  const clamd = await scriptedClamd();
  const gate = Promise.withResolvers<void>();
  clamd.before = () => gate.promise;
  const { server, endpoint } = await start({ clamd: clamd.url });
  await postFiles(server, endpoint.secret, form(pdf()));
  await postFiles(server, endpoint.secret, form(Buffer.concat([pdf(), Buffer.from(EICAR)])));
  expect(await metricsOf(server)).toMatchObject({
    'files_without_verdict{state="scanning"}': 2,
    'files_without_verdict{state="unscanned"}': 0,
  });
  gate.resolve();
  await until(async () => (await metricsOf(server))['files_without_verdict{state="scanning"}'] === 0);
  expect(await metricsOf(server)).toMatchObject({
    'file_scans_total{result="clean"}': 1,
    'file_scans_total{result="infected"}': 1,
    'file_scans_total{result="failed"}': 0,
  });
  await clamd.stop();
  await postFiles(server, endpoint.secret, form(pdf()));
  await until(async () => ((await metricsOf(server))['file_scans_total{result="failed"}'] ?? 0) > 0);
});

test("metrics count what the store of files did not do, and the deletions that wait for it", async () => {
  const scripted = await startScriptedStore();
  const { server, endpoint } = await start({ storage: "s3", s3: scripted.settings });
  const { files } = await postFiles(server, endpoint.secret, form(pdf()));
  expect(await metricsOf(server)).toMatchObject({
    'file_store_failures_total{request="put"}': 0,
    'file_store_failures_total{request="get"}': 0,
    'file_store_failures_total{request="delete"}': 0,
    file_deletions_waiting: 0,
  });
  scripted.treat = () => "forbid";
  server.owner.execute(`DELETE FROM file WHERE id = '${files[0]?.id}'`);
  expect(await metricsOf(server)).toMatchObject({ file_deletions_waiting: 1, file_bytes: 0 });
  const { headers, body } = await multipart(form(pdf()));
  const authorization = `Bearer ${endpoint.secret}`;
  const refused = { method: "POST", path: "/submit", headers: { ...headers, authorization }, body };
  expect((await server.request(refused)).status).toBe(503);
  const failures = 'file_store_failures_total{request="put"}';
  expect((await metricsOf(server))[failures]).toBeGreaterThan(0);
});
