import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { MAX_IMPORT_BYTES } from "../../src/submissions/import/import-spool.ts";
import { type Ask, askWith, makeToken } from "../support/api-client.ts";
import { openSpools } from "../support/import-file.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

/** More than waits in memory. */
const MANY_ROWS = 6000;

function table(rows: number): string {
  const line = (row: number): string =>
    `2026-01-31T10:00:00Z,Visitor ${row},v${row}@example.org,"Row, ${row}"`;
  return `created_at,name,email,message\n${Array.from({ length: rows }, (_, row) => line(row)).join("\n")}\n`;
}

async function serve(settings: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer(settings);
  const form = await server.addEndpoint();
  const token = await makeToken(server);
  const ask = askWith(server, token);
  const send = (path: string, query: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    ask("POST", path, { query, body, headers: { "content-type": "application/octet-stream", ...headers } });
  const sendTable = (query: string, body: string | Buffer, headers: Record<string, string> = {}) =>
    send(`/endpoints/${form.id}/import`, query, body, headers);
  return { server, form, token, ask, send, sendTable };
}

test("an export comes back through the API with its ids, and what is there already is left as it is", async () => {
  const { server, form, ask, send } = await serve();
  for (const name of ["Ada", "Bo", "Cy"]) await server.post(form.secret, { ...goodPost, name });
  const exported = (await ask("GET", "/submissions/export", { query: "format=ndjson" })).text;
  expect((await send("/submissions/import", "", exported)).json).toEqual({
    imported: { added: 0, known: 3 },
  });
  server.owner.execute("DELETE FROM submission WHERE seq = 2");
  expect((await send("/submissions/import", "", exported)).json).toEqual({
    imported: { added: 1, known: 2 },
  });
  const again = (await ask("GET", "/submissions/export", { query: "format=ndjson" })).text;
  expect(new Set(again.trim().split("\n"))).toEqual(new Set(exported.trim().split("\n")));
});

test("a connection may stand still while the server works for its answer, and no longer", async () => {
  const { sendTable } = await serve();
  const sockets: Socket[] = [];
  const note = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  subscribe("http.server.request.start", note);
  onTestFinished(() => void unsubscribe("http.server.request.start", note));
  /** The times for which the connection might stand still: 0 stands for any. */
  const allowed = new Set<number | undefined>();
  const watch = setInterval(() => allowed.add(sockets[0]?.timeout), 1);
  const { status } = await sendTable("format=csv", table(MANY_ROWS));
  clearInterval(watch);
  expect([status, allowed.has(0)]).toEqual([200, true]);
  expect(sockets[0]?.timeout).toBeGreaterThan(0);
});

test("a table comes in with a dry run before it, refused rows are told, and a second time there are no doubles", async () => {
  const { server, sendTable } = await serve();
  const body = `${table(2)}yesterday,Late,late@example.org,x\n`;
  const done = {
    rows: 3,
    imported: 2,
    known: 0,
    refused: [{ line: 4, field: "created_at", message: expect.stringContaining("not a time") as string }],
    unmapped: [],
  };
  expect((await sendTable("format=csv&dry_run=true", body)).json).toEqual(done);
  expect(server.stored()).toEqual([]);
  const headers = { "idempotency-key": "once", "content-type": "text/csv" };
  expect((await sendTable("format=csv", body, headers)).json).toEqual(done);
  expect((await sendTable("format=csv", body, headers)).json).toEqual(done);
  expect((await sendTable("format=csv", `${body}\n`, headers)).status).toBe(409);
  expect((await sendTable("format=csv", body)).json).toMatchObject({ imported: 0, known: 2 });
  expect(server.stored().map(({ name }) => name)).toEqual(["Visitor 0", "Visitor 1"]);
});

test("columns are mapped by name, and a file in another encoding is read in it", async () => {
  const { server, sendTable } = await serve();
  const body = Buffer.from(
    "Wann;Wer;Mail;message\n2026-01-31T10:00:00Z;J\u00f6rg;j@example.org;Gr\u00fc\u00dfe\n",
    "latin1",
  );
  const query = "format=csv&encoding=windows-1252&map=Wann%3Dcreated_at&map=Wer%3Dname&map=Mail%3Demail";
  expect((await sendTable(query, body)).json).toMatchObject({ imported: 1, refused: [], unmapped: [] });
  expect(server.stored()).toEqual([
    { name: "J\u00f6rg", email: "j@example.org", message: "Gr\u00fc\u00dfe" },
  ]);
  const wrong = await sendTable("format=csv&encoding=utf-9", body);
  expect([wrong.status, wrong.json["message"]]).toEqual([
    400,
    expect.stringContaining('not an encoding: "utf-9"'),
  ]);
});

test("who asks for lines is told how far a large import is, and no file is left open after it", async () => {
  const { server, sendTable } = await serve();
  const answer = await sendTable("format=csv", table(MANY_ROWS), { accept: "application/x-ndjson" });
  const lines = answer.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.at(-1)).toMatchObject({ output: { rows: MANY_ROWS, imported: MANY_ROWS, refused: [] } });
  expect(lines[0]).toMatchObject({ total: MANY_ROWS });
  expect(lines.length).toBeGreaterThan(2);
  expect(server.stored().length).toBe(MANY_ROWS);
  await until(() => openSpools() === 0);
});

test("who asks for lines is told if the server stops in the middle, and the log names no defect", async () => {
  const { server, form, token } = await serve({ server: { shutdownGraceMs: 1000 } });
  const answered = Promise.withResolvers<string>();
  const sent = httpRequest(`${server.url}/api/v1/endpoints/${form.id}/import?format=csv`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/x-ndjson",
      "content-type": "application/octet-stream",
    },
  });
  const stopping: Promise<void>[] = [];
  sent.on("response", (answer) => {
    let text = "";
    answer.on("data", (part: Buffer) => {
      text += part.toString();
      if (stopping.length === 0) stopping.push(server.stop());
    });
    answer.on("error", () => undefined);
    answer.on("close", () => answered.resolve(text));
  });
  sent.end(table(20 * MANY_ROWS));
  const last = (await answered.promise).trim().split("\n").at(-1) ?? "";
  expect(JSON.parse(last)).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("the server is being restarted") as string,
  });
  await Promise.all(stopping);
  const failed = server.log.filter((line) => line.includes("request.failed"));
  expect(failed.map((line) => (JSON.parse(line) as { code: string }).code)).toEqual(["unavailable"]);
});

test.each(["gzip", "br", "x"])(
  "a body in the encoding %s is refused by its name, whatever it is",
  async (encoding) => {
    const { ask, sendTable } = await serve();
    const headers = { "content-encoding": encoding };
    const refusals = [
      await sendTable("format=csv", table(1), headers),
      await ask("POST", "/endpoints", { body: { name: "x", schema: {} }, headers }),
    ];
    for (const { status, json } of refusals)
      expect([status, json["message"]]).toEqual([415, "Send the body as it is, without Content-Encoding."]);
  },
);

describe("a file that cannot be imported is refused with what to do, and nothing is stored:", () => {
  test.each<{
    what: string;
    query?: string;
    body: string | Buffer;
    type?: string;
    status?: number;
    said: string;
  }>([
    { what: "an empty one", body: "", said: "the file: the file is empty" },
    { what: "one without columns of the form", body: "a,b\n1,2\n", said: "no column is named like a field" },
    {
      what: "our own export in JSON",
      body: '[\n{"id":"sub_1","endpoint_id":"ep_1","data":{}}\n]\n',
      said: "the file is JSON of our own",
    },
    {
      what: "our own export in NDJSON",
      body: '{"id":"sub_1","endpoint_id":"ep_1","data":{}}\n{"id":"sub_2","endpoint_id":"ep_1","data":{}}\n',
      said: "import it as an export of formsvc",
    },
    { what: "text in another encoding", body: Buffer.from([0x61, 0xff, 0x0a]), said: "no text in utf-8" },
    { what: "a format that is none", query: "format=typeform", body: table(1), said: "format" },
    { what: "an unknown parameter", query: "format=csv&surely=1", body: table(1), said: "surely" },
    { what: "a member given twice", query: "format=csv&format=csv", body: table(1), said: "format" },
    {
      what: "a table in JSON that is too large",
      body: `[${" ".repeat(4_194_304)}]`,
      said: "up to 4 MiB here",
    },
    { what: "broken quotes", body: `${table(1)}"never closed`, said: "never closed" },
    { what: "a form", body: "x", type: "multipart/form-data; boundary=x", status: 415, said: "Unsupported" },
  ])("$what", async ({ query = "format=csv", body, type = "text/csv", status = 400, said }) => {
    const { server, sendTable } = await serve();
    const answer = await sendTable(query, body, { "content-type": type });
    expect([answer.status, JSON.stringify(answer.json)]).toEqual([status, expect.stringContaining(said)]);
    expect(server.stored()).toEqual([]);
    expect((await sendTable("format=csv", table(1))).json).toMatchObject({ imported: 1 });
  });

  test("lines that are no export, or too long, named by the file's name", async () => {
    const { server, send } = await serve();
    const named = { "content-disposition": "attachment; filename*=UTF-8''old%20posts.ndjson" };
    const broken = await send("/submissions/import", "", '{"id":1}\n', named);
    expect([broken.status, broken.json["message"]]).toEqual([
      400,
      expect.stringContaining("ld posts.ndjson: line 1"),
    ]);
    const long = await send("/submissions/import", "", `"${"x".repeat(4_300_000)}"\n`, {
      "content-disposition": 'attachment; filename="a\u001b[31m.ndjson"'.replace("\u001b", "%1b"),
    });
    expect([long.status, long.json["message"]]).toEqual([
      400,
      expect.stringContaining("a line is longer than"),
    ]);
    expect(server.stored()).toEqual([]);
  });
});

test("a file that is too large by its length is refused before a byte of it came", async () => {
  const { server, token, form } = await serve();
  const answer = await new Promise<number>((resolve, reject) => {
    const sent = httpRequest(`${server.url}/api/v1/endpoints/${form.id}/import?format=csv`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "text/csv",
        "content-length": MAX_IMPORT_BYTES + 1,
      },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      sent
        .off("error", reject)
        .on("error", () => undefined)
        .destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.flushHeaders();
  });
  expect(answer).toBe(413);
});

test("nobody imports without the scope, into a stranger's form, or as a reader of a form that is not theirs", async () => {
  const { server, form } = await serve();
  await visit(server, "eve@example.com");
  const scopes = ["submissions:read", "submissions:write", "endpoints:read"] as const;
  const stranger = askWith(server, await makeToken(server, scopes, { account: "eve@example.com" }));
  const reader = askWith(server, await makeToken(server, ["submissions:read"], { endpoint: form.id }));
  const path = `/endpoints/${form.id}/import`;
  const asked = { query: "format=csv", body: table(1), headers: { "content-type": "text/csv" } };
  expect((await stranger("POST", path, asked)).status).toBe(404);
  expect((await reader("POST", path, asked)).status).toBe(403);
  expect((await askWith(server, null)("POST", path, asked)).status).toBe(401);
  const line = JSON.stringify({ id: "sub_1", endpoint_id: form.id });
  const whole = { body: `${line}\n`, headers: { "content-type": "application/x-ndjson" } };
  expect((await reader("POST", "/submissions/import", whole)).status).toBe(403);
  expect([400, 404]).toContain((await stranger("POST", "/submissions/import", whole)).status);
  expect(server.stored()).toEqual([]);
});

/** A client that has sent a part of its file and waits. */
function beginTable({ url }: TestServer, path: string, token: string) {
  const sent = httpRequest(`${url}/api/v1${path}?format=csv`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "text/csv" },
  });
  sent.on("error", () => undefined);
  sent.write(table(MANY_ROWS));
  return sent;
}

test("an account sends one file at a time, others are not held up by it, and who leaves in the middle frees the place", async () => {
  const { server, form, token, sendTable } = await serve();
  const slow = beginTable(server, `/endpoints/${form.id}/import`, token);
  await until(() => openSpools() === 1);
  const refused = await sendTable("format=csv", table(1));
  expect([refused.status, refused.json["code"]]).toEqual([429, "rate_limited"]);
  const service: Ask = askWith(
    server,
    await makeToken(server, ["submissions:write"], { workspace: form.workspaceId }),
  );
  const asked = { query: "format=csv", body: table(1), headers: { "content-type": "text/csv" } };
  expect((await service("POST", `/endpoints/${form.id}/import`, asked)).json).toMatchObject({ imported: 1 });
  slow.destroy();
  await until(() => openSpools() === 0);
  await until(async () => (await sendTable("format=csv", table(2))).status === 200);
  expect(server.stored().length).toBe(2);
});

test("tokens of the endpoints of one workspace send one file at a time together", async () => {
  const { server, form } = await serve();
  const other = await server.addEndpoint();
  expect(other.workspaceId).toBe(form.workspaceId);
  const [own, others] = await Promise.all(
    [form, other].map(({ id }) => makeToken(server, ["submissions:write"], { endpoint: id })),
  );
  const slow = beginTable(server, `/endpoints/${form.id}/import`, own ?? "");
  await until(() => openSpools() === 1);
  const asked = { query: "format=csv", body: table(1), headers: { "content-type": "text/csv" } };
  const send = () => askWith(server, others ?? "")("POST", `/endpoints/${other.id}/import`, asked);
  const refused = await send();
  expect([refused.status, refused.json["code"]]).toEqual([429, "rate_limited"]);
  slow.destroy();
  await until(() => openSpools() === 0);
  await until(async () => (await send()).status === 200);
});
