import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openRaw, splitAnswers } from "../support/http-client.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, sha256, storedFiles } from "../support/uploads.ts";

const CROWD = 100;
/** Between two posts of the other address. */
const PAUSE_MS = 50;
const [CROWDED, OTHER] = ["192.0.2.1", "198.51.100.7"];

interface Form {
  readonly key: string;
  readonly type: string;
  readonly body: Buffer;
}

/** Sends a form, or only these first bytes of it, and waits for the answer. The status is 0 if the server hung up without one. */
async function send({ port }: TestServer, form: Form, address: string, bytes = form.body.length) {
  const lines = [
    "POST /submit HTTP/1.1",
    "Host: a",
    `Authorization: Bearer ${form.key}`,
    `X-Forwarded-For: ${address}`,
    `Content-Type: ${form.type}`,
    `Content-Length: ${form.body.length}`,
  ];
  const connection = await openRaw(port);
  connection.write(`${lines.join("\r\n")}\r\n\r\n`);
  connection.write(form.body.subarray(0, bytes));
  await until(() => connection.received().includes("\r\n\r\n") || connection.socket.destroyed);
  const [answer] = splitAnswers(connection.received());
  connection.socket.destroy();
  return { bytes, status: answer?.status ?? 0, retryAfter: answer?.headers["retry-after"] };
}

test("each of a hundred forms at once from one address has its answer, also if it stops halfway, and another address is served meanwhile", async () => {
  const server = await startServer({
    files: { uploadTimeoutMs: 4000, spoolBytes: 33_554_432, maxPostBytes: 2_097_152 },
    server: { trustProxy: ["127.0.0.1"] },
  });
  const { publishable: key } = await server.addEndpoint({ schema: applicationSchema });
  const bytes = pdf(400_000);
  const { headers, body } = await multipart([
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes }],
  ]);
  const form = { key, type: headers["content-type"], body };
  // Of four, two send all of it, one stops halfway, and one sends nothing but the headers.
  const sent = [body.length, body.length / 2, body.length, 0];
  const crowded = { isOver: false };
  const crowd = Promise.all(
    Array.from({ length: CROWD }, (_, client) => send(server, form, CROWDED, sent[client % 4])),
  ).finally(() => (crowded.isOver = true));
  const others: Awaited<ReturnType<typeof send>>[] = [];
  while (!crowded.isOver) {
    others.push(await send(server, form, OTHER));
    await sleep(PAUSE_MS);
  }
  const answers = await crowd;

  const statusesOf = (size: number) =>
    new Set(answers.filter((answer) => answer.bytes === size).map(({ status }) => status));
  expect(statusesOf(body.length)).toEqual(new Set([200, 503]));
  // Those that are let in have their time; the others are refused for what they announced.
  expect(statusesOf(body.length / 2)).toEqual(new Set([408, 503]));
  expect(statusesOf(0)).toEqual(new Set([408, 503]));
  expect(answers.filter(({ status, retryAfter }) => status === 503 && retryAfter === undefined)).toEqual([]);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));

  const { files, bytesOf, chunks } = storedFiles(server.owner);
  const taken = [...answers, ...others].filter(({ status }) => status === 200);
  expect(files.map(({ state }) => state)).toEqual(taken.map(() => "stored"));
  expect(server.stored()).toHaveLength(taken.length);
  expect(chunks).toBe(2 * taken.length);
  for (const { id } of files) expect(sha256(bytesOf(id))).toBe(sha256(bytes));
  expect(await send(server, form, CROWDED)).toMatchObject({ status: 200 });
}, 60_000);
