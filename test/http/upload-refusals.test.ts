import { expect, test } from "vitest";
import {
  type ConfigOverrides,
  startServer,
  type TestEndpoint,
  type TestServer,
} from "../support/test-server.ts";
import { multipart, pdf, storedFiles, type UploadPart } from "../support/uploads.ts";

type Parts = readonly (readonly [field: string, part: UploadPart])[];

interface Refusal {
  readonly status: number;
  readonly error: string;
  /** Of the answer to a script. */
  readonly details?: object;
  readonly retryAfter?: string | null;
  /** Bytes of the file that is sent: 100,000 unless given. */
  readonly size?: number;
  /** What the page says. */
  readonly sentence: string;
}

const SCHEMA = {
  name: { type: "string", required: true },
  message: { type: "string" },
  cv: { type: "file", required: true, maxBytes: 150_000, maxFiles: 2, accept: [".pdf"] },
  papers: { type: "file", maxFiles: 5 },
} as const;

const cv = (size: number, name = "cv.pdf"): Parts[number] => ["cv", { name, bytes: pdf(size) }];

function startForm(server: TestServer): Promise<TestEndpoint> {
  return server.addEndpoint({ schema: SCHEMA });
}

/** The same refusal by `/submit` and on a page without script, which keeps what was typed. Nothing is stored. */
async function expectRefused(
  server: TestServer,
  { publishable, secret }: TestEndpoint,
  files: Parts,
  { status, error, details, retryAfter = null, sentence }: Refusal,
): Promise<void> {
  const before = storedFiles(server.owner).files.length;
  const form = await multipart([["name", "Ana"], ...files, ["message", "I can start in May."]]);
  const key = error === "Upload limit exceeded" ? publishable : secret;
  const script = await server.request({
    method: "POST",
    path: "/submit",
    headers: { ...form.headers, authorization: `Bearer ${key}` },
    body: form.body,
  });
  expect(script).toMatchObject({ status, json: { error, ...(details !== undefined && { details }) } });
  const page = await server.request({
    method: "POST",
    path: `/f/${publishable}`,
    headers: { ...form.headers, accept: "text/html", origin: "https://example.com" },
    body: form.body,
  });
  expect([page.status, page.text]).toEqual([status, expect.stringContaining(sentence)]);
  expect(page.text).toContain('value="Ana"');
  expect(page.text).toContain("I can start in May.");
  expect(page.text).toContain("Please choose your files again");
  expect([script, page].map(({ headers }) => headers["retry-after"] ?? null)).toEqual([
    retryAfter,
    retryAfter,
  ]);
  expect(storedFiles(server.owner).files).toHaveLength(before);
}

/** A refusal at a field: the schema's. */
function atField(
  reason: string,
  sentence: string,
  more: { maximum?: number; path?: string[] } = {},
): Refusal {
  const { path = ["cv", "0"], ...facts } = more;
  const issue = expect.objectContaining({ code: "invalid_file", reason, path, ...facts });
  const details = { [path[0] ?? ""]: { issues: [issue] } };
  return { status: 400, error: "Validation failed", details, sentence };
}

test("what the schema refuses of a file is said at its field, to a script and on a page", async () => {
  const server = await startServer();
  const endpoint = await startForm(server);
  const paper = ["papers", { name: "a.pdf", bytes: pdf() }] as const;
  const cases: readonly (readonly [Parts, Refusal])[] = [
    [[cv(0)], atField("size", "must not be empty and may have 146.4 KB at most", { maximum: 150_000 })],
    [[cv(150_001)], atField("size", "may have 146.4 KB at most", { maximum: 150_000 })],
    [[cv(9), cv(9), cv(9)], atField("count", "Cv: 2 files at most", { maximum: 2, path: ["cv"] })],
    [
      [cv(9), paper, paper, paper, paper, paper],
      atField("count", "Papers: 5 files at most", { maximum: 5, path: ["papers", "4"] }),
    ],
    [[cv(2000, "cv.docx")], atField("type", "Cv does not take this kind of file")],
    [[cv(2000, "\u202E")], atField("name", "Cv: the file needs a name that can be shown")],
  ];
  for (const [files, refusal] of cases) await expectRefused(server, endpoint, files, refusal);
  expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
});

const LATER = "cannot take your form right now";
const unavailable = { status: 503, error: "Service unavailable", sentence: LATER };
const full = { status: 429, sentence: "leave files out" };
const limits: readonly (readonly [name: string, config: ConfigOverrides, refusal: Refusal])[] = [
  [
    "a file that is larger than any may be",
    { files: { maxFileBytes: 50_000 } },
    {
      status: 413,
      error: "Payload too large",
      details: { limit: "files.maxFileBytes", maximum: 50_000, field: "cv", file: "cv.pdf" },
      sentence: "Cv: the file must not be empty and may have 48.8 KB at most",
    },
  ],
  [
    "a form that is too large",
    { files: { maxPostBytes: 80_000 } },
    {
      status: 413,
      error: "Payload too large",
      details: { limit: "files.maxPostBytes", maximum: 80_000 },
      sentence: "leave files out",
    },
  ],
  [
    "the day of an address",
    { files: { maxBytesPerAddressPerDay: 10_000 } },
    {
      ...full,
      error: "Upload limit exceeded",
      details: { limit: "files.maxBytesPerAddressPerDay", maximum: 10_000 },
      retryAfter: "43200",
    },
  ],
  [
    "the day of a form",
    { files: { maxTotalBytes: 150_000, maxFormShare: 0.5 } },
    {
      ...full,
      error: "Upload limit exceeded",
      details: { limit: "files.maxFormShare", maximum: 75_000 },
      retryAfter: "43200",
    },
  ],
  [
    "the room of a plan",
    { plans: { hobby: { fileBytes: 10_000 } } },
    { ...full, error: "Storage limit exceeded", details: { limit: "fileBytes", maximum: 10_000 } },
  ],
  [
    "the room of a server",
    { files: { maxTotalBytes: 10_000 } },
    { ...unavailable, details: { limit: "files.maxTotalBytes", maximum: 10_000 }, retryAfter: "60" },
  ],
  [
    "a disk that is nearly full",
    { files: { minFreeBytes: 1_000_000_000_000_000 } },
    { ...unavailable, retryAfter: "60" },
  ],
  [
    "a place in which files wait that is full",
    { files: { spoolBytes: 1_048_576, maxPostBytes: 2_000_000 }, server: { bodyLimitBytes: 10_000 } },
    { ...unavailable, retryAfter: "5", size: 1_900_000 },
  ],
  [
    "a store that is away",
    {
      files: {
        storage: "s3",
        s3: {
          endpoint: "http://127.0.0.1:1",
          bucket: "b",
          region: "r",
          accessKeyId: "a",
          secretAccessKey: "s",
        },
      },
    },
    { ...unavailable, retryAfter: "10" },
  ],
];

test.each(limits)(
  "%s is told to a script and on a page, which keeps what was typed",
  async (_name, config, refusal) => {
    const server = await startServer(config);
    await expectRefused(server, await startForm(server), [cv(refusal.size ?? 100_000)], refusal);
    expect(storedFiles(server.owner)).toMatchObject({ files: [], chunks: 0 });
    expect(server.stored()).toEqual([]);
  },
);
