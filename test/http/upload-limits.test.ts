import { expect, onTestFinished, test } from "vitest";
import { openRaw } from "../support/http-client.ts";
import { type ConfigOverrides, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, storedFiles, type UploadPart } from "../support/uploads.ts";

type Parts = readonly (readonly [field: string, part: UploadPart])[];

const METRICS_TOKEN = "a-token-of-thirty-two-characters";
const ana = ["name", "Ana"] as const;
const form = (size: number): Parts => [ana, ["cv", { name: "cv.pdf", bytes: pdf(size) }]];

async function start(config: ConfigOverrides) {
  const server = await startServer(config);
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const send = async (key: string, parts: Parts, more: Record<string, string> = {}) => {
    const { headers, body } = await multipart(parts);
    const authorization = `Bearer ${key}`;
    return server.request({
      method: "POST",
      path: "/submit",
      headers: { ...headers, authorization, ...more },
      body,
    });
  };
  return { server, endpoint, send };
}

/** Says how long a form is, and sends nothing of it. */
async function announce({ port }: TestServer, key: string, length: number): Promise<string> {
  const connection = await openRaw(port);
  onTestFinished(() => void connection.socket.destroy());
  connection.write(
    `POST /submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`,
  );
  return await connection.closed;
}

const refusals = [
  [
    "the day of an address",
    { files: { maxBytesPerAddressPerDay: 200_000 } },
    429,
    "Upload limit exceeded",
    "43200",
  ],
  [
    "the day of a form",
    { files: { maxTotalBytes: 300_000, maxFormShare: 0.6 } },
    429,
    "Upload limit exceeded",
    "43200",
  ],
  ["the plan's room", { plans: { hobby: { fileBytes: 200_000 } } }, 429, "Storage limit exceeded", null],
  ["the room of the server", { files: { maxTotalBytes: 200_000 } }, 503, "Service unavailable", "60"],
  [
    "the place in which files wait",
    { files: { spoolBytes: 1_048_576, maxPostBytes: 2_000_000 }, server: { bodyLimitBytes: 10_000 } },
    503,
    "Service unavailable",
    "5",
  ],
] as const satisfies readonly (readonly [string, ConfigOverrides, number, string, string | null])[];

test.each(refusals)(
  "a form that passes %s is refused before a byte of it is read, and one that fits is taken",
  async (name, config, ...answered) => {
    const [status, error, retryAfter] = answered;
    const { server, endpoint, send } = await start(config);
    const length = name.startsWith("the place") ? 1_900_000 : 270_000;
    const key = name === "the room of the server" ? endpoint.secret : endpoint.publishable;
    const answer = await announce(server, key, length);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(`"error":"${error}"`);
    expect(/^retry-after: (\d+)/im.exec(answer)?.[1] ?? null).toBe(retryAfter);
    expect(answer).toMatch(/connection: close/i);
    expect(await send(key, form(90_000))).toMatchObject({ status: 200 });
    expect(storedFiles(server.owner).files.map(({ size }) => size)).toEqual([90_000]);
  },
);

test("a form whose length nobody announced is refused when it is read, and nothing of it counts", async () => {
  const { server, endpoint, send } = await start({ files: { maxBytesPerAddressPerDay: 50_000 } });
  const { headers, body } = await multipart(form(60_000));
  const answer = await server.request({
    method: "POST",
    path: "/submit",
    headers: { ...headers, authorization: `Bearer ${endpoint.secret}` },
    body,
    chunked: true,
  });
  expect(answer).toMatchObject({
    status: 429,
    json: {
      error: "Upload limit exceeded",
      details: { limit: "files.maxBytesPerAddressPerDay", maximum: 50_000 },
    },
  });
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
  expect(server.stored()).toEqual([]);
  expect(await send(endpoint.secret, form(50_000))).toMatchObject({ status: 200 });
});

test("a backend's visitors have their own days", async () => {
  const { endpoint, send } = await start({ files: { maxBytesPerAddressPerDay: 50_000 } });
  const from = (address: string) => send(endpoint.secret, form(40_000), { "x-submitter-ip": address });
  expect((await from("192.0.2.1")).status).toBe(200);
  expect((await from("192.0.2.1")).status).toBe(429);
  expect((await from("192.0.2.2")).status).toBe(200);
});

test("a post that is refused for another reason counts for no day", async () => {
  const { endpoint, send } = await start({ files: { maxBytesPerAddressPerDay: 50_000 } });
  const refused = await send(endpoint.secret, [["cv", { name: "cv.pdf", bytes: pdf(40_000) }]]);
  expect(refused.status).toBe(400);
  expect(await send(endpoint.secret, form(40_000))).toMatchObject({ status: 200 });
});

type World = Awaited<ReturnType<typeof start>>;

const S3_AWAY = {
  storage: "s3",
  s3: { endpoint: "http://127.0.0.1:1", bucket: "b", region: "r", accessKeyId: "a", secretAccessKey: "s" },
} as const;

const spoolBytes = 1_048_576;

const sendFile = ({ send, endpoint }: World) => send(endpoint.secret, form(2000));

/** Each takes away the room for a first byte of a file. */
const fullRooms: readonly (readonly [
  name: string,
  config: ConfigOverrides,
  status: number,
  fill: (world: World) => Promise<unknown>,
])[] = [
  ["the plan's room is full", { plans: { hobby: { fileBytes: 2000 } } }, 429, sendFile],
  ["the server's room is full", { files: { maxTotalBytes: 2000, maxFormShare: 1 } }, 503, sendFile],
  ["the address's day is over", { files: { maxBytesPerAddressPerDay: 2000 } }, 429, sendFile],
  ["the disk is nearly full", { files: { minFreeBytes: 1_000_000_000_000_000 } }, 503, sendFile],
  ["the store is away", { files: S3_AWAY }, 503, sendFile],
  [
    "the place in which files wait is full",
    { files: { spoolBytes, maxPostBytes: spoolBytes + 10_000 }, server: { bodyLimitBytes: 10_000 } },
    503,
    async (world) => {
      void announce(world.server, world.endpoint.secret, spoolBytes + 10_000);
      await until(async () => (await sendFile(world)).status === 503);
    },
  ],
];

test.each(fullRooms)(
  "a form in which nobody chose a file is taken while %s, by a script and by a page, and one with a file is not",
  async (_name, config, status, fill) => {
    const world = await start(config);
    await fill(world);
    const { server, send } = world;
    const optional = await server.addEndpoint({ schema: { name: { type: "string" }, cv: { type: "file" } } });
    const before = storedFiles(server.owner).files.length;
    const answers = async (parts: Parts) => {
      const { headers, body } = await multipart(parts);
      const path = `/f/${optional.publishable}`;
      const toForm = (accept: string) =>
        server.request({ method: "POST", path, headers: { ...headers, accept }, body });
      const script = await send(optional.publishable, parts);
      return [script, await toForm("application/json"), await toForm("text/html")].map((it) => it.status);
    };
    expect(await answers(form(1000))).toEqual([status, status, status]);
    expect(await answers([ana, ["cv", { name: "", bytes: "" }]])).toEqual([200, 200, 200]);
    expect(await answers([ana])).toEqual([200, 200, 200]);
    expect(await server.post(optional.secret, { name: "Ana" })).toMatchObject({ status: 200 });
    expect(storedFiles(server.owner).files).toHaveLength(before);
  },
);

test("files that do not fit are noted for owner and operator when a form brings one, and not by a form in which nobody chose a file", async () => {
  const room = { fileBytes: 2000 };
  const { server, send } = await start({ plans: { hobby: room }, files: { maxFormShare: 1 } });
  const optional = await server.addEndpoint({ schema: { name: { type: "string" }, cv: { type: "file" } } });
  const notes = () =>
    server.owner.prepare("SELECT unit FROM upload_use WHERE unit LIKE 'full%'").pluck().all();
  const sendToPage = async (parts: Parts) => {
    const { headers, body } = await multipart(parts);
    const path = `/f/${optional.publishable}`;
    return server.request({ method: "POST", path, headers: { ...headers, accept: "text/html" }, body });
  };
  expect((await send(optional.publishable, form(2000))).status).toBe(200);
  expect((await send(optional.publishable, [ana])).status).toBe(200);
  expect((await sendToPage([ana, ["cv", { name: "", bytes: "" }]])).status).toBe(200);
  expect(notes()).toEqual([]);
  expect((await sendToPage(form(1000))).status).toBe(429);
  expect(notes()).toEqual([`full ${optional.workspaceId}`]);
});

test.each(["length", "content"])(
  "files that do not fit are noted when a script's form is refused by its %s",
  async (by) => {
    const { server, send, endpoint } = await start({ plans: { hobby: { fileBytes: 2000 } } });
    expect((await send(endpoint.secret, form(2000))).status).toBe(200);
    if (by === "length") expect(await announce(server, endpoint.secret, 270_000)).toContain(" 429 ");
    else expect((await send(endpoint.secret, form(1000))).status).toBe(429);
    const notes = server.owner.prepare("SELECT unit FROM upload_use WHERE unit LIKE 'full%'").pluck();
    expect(notes.all()).toEqual([`full ${endpoint.workspaceId}`]);
  },
);

test("a form that is far too large is refused by its length, also to a page", async () => {
  const server = await startServer({ files: { maxPostBytes: 100_000 } });
  const endpoint = await server.addEndpoint({ schema: applicationSchema });
  const connection = await openRaw(server.port);
  connection.write(
    `POST /f/${endpoint.publishable} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n` +
      "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 200001\r\n\r\n",
  );
  expect(await connection.closed).toContain("HTTP/1.1 413 ");
});

test("of visitors who send at once, those before the room is promised are taken whole, and the next is refused at once", async () => {
  const { server, endpoint } = await start({
    files: { spoolBytes: 8_388_608, maxPostBytes: 1_048_576 },
    server: { bodyLimitBytes: 10_000, trustProxy: ["127.0.0.1"] },
    metrics: { enabled: true, token: METRICS_TOKEN },
  });
  const { headers, body } = await multipart(form(1_040_000));
  const headersOf = (visitor: number) => ({
    ...headers,
    "x-forwarded-for": `192.0.2.${visitor}`,
    authorization: `Bearer ${endpoint.publishable}`,
    "content-length": String(body.length),
    connection: "close",
  });
  const early = await Promise.all(
    Array.from({ length: 8 }, async (_, visitor) => {
      const connection = await openRaw(server.port);
      const lines = Object.entries(headersOf(visitor)).map(([name, value]) => `${name}: ${value}\r\n`);
      connection.write(`POST /submit HTTP/1.1\r\nHost: a\r\n${lines.join("")}\r\n`);
      connection.write(body.subarray(0, 100_000));
      return connection;
    }),
  );
  await until(async () => {
    const page = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
    ).text();
    return Number(/^formsvc_file_spool_bytes (\d+)$/m.exec(page)?.[1]) >= 8 * 90_000;
  });
  const late = await server.request({ method: "POST", path: "/submit", headers: headersOf(9), body });
  expect(late).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
  for (const connection of early) connection.write(body.subarray(100_000));
  const answers = await Promise.all(early.map(({ closed }) => closed));
  expect(answers.map((answer) => answer.split("\r\n")[0])).toEqual(Array(8).fill("HTTP/1.1 200 OK"));
  expect(storedFiles(server.owner).files).toHaveLength(8);
});
