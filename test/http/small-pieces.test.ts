import { afterAll, beforeAll, expect, test } from "vitest";
import { exchangeRaw, splitAnswers } from "../support/http-client.ts";
import { goodPost, launchServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await launchServer();
  key = (await server.addEndpoint()).publishable;
});
afterAll(() => server.stop());

/** A post of about this many bytes, in chunks of `pieceBytes` each. */
function inPieces(bytes: number, pieceBytes: number, path = "/submit", type = "application/json"): string {
  const body = JSON.stringify({ ...goodPost, message: "x".repeat(bytes) });
  const pieces = body.match(new RegExp(`.{1,${pieceBytes}}`, "g")) ?? [];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  const headers = ["Host: a", `Authorization: Bearer ${key}`, `Content-Type: ${type}`, "Connection: close"];
  return `POST ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\n\r\n`;
}

async function send(request: string) {
  const [answer] = splitAnswers(await exchangeRaw(server.port, request));
  return { status: answer?.status, text: answer?.text };
}

test("a body that comes byte by byte is refused with a sentence, and stores nothing", async () => {
  const { status, text } = await send(inPieces(5000, 1));
  expect(status).toBe(400);
  expect(text).toContain("very small pieces");
  expect(server.owner.prepare("SELECT count(*) FROM submission").pluck().get()).toBe(0);
});

test("a form that comes byte by byte is refused as well", async () => {
  const form = inPieces(5000, 1, `/f/${key}`, "application/x-www-form-urlencoded");
  const { status, text } = await send(form);
  expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining("very small pieces") });
});

test("a short body may come byte by byte, and a long one in pieces of 64 bytes", async () => {
  expect((await send(inPieces(1500, 1))).status).toBe(200);
  expect((await send(inPieces(60_000, 64))).status).toBe(200);
});
