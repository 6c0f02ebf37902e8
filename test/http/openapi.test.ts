import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ERROR_TABLE } from "../../src/foundation/errors.ts";
import type { Endpoint } from "../support/machine-database.ts";
import { makeMachine } from "../support/operator-machine.ts";
import type { RunningServer } from "../support/running-server.ts";
import { typeErrors } from "../support/type-errors.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, DescribedOperation>>;
}

interface DescribedOperation {
  readonly responses: Record<string, { readonly description: string }>;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const machine = makeMachine();
let server: RunningServer;
let form: Endpoint;
let text: string;
let document: Document;
let folder: string;

beforeAll(async () => {
  machine.configure({});
  server = await machine.serve();
  form = await machine.createEndpoint({ schema: { name: { type: "string", required: true } } });
  text = await (await fetch(`${server.url}/openapi.json`)).text();
  document = JSON.parse(text) as Document;
  folder = mkdtempSync(join(tmpdir(), "formsvc-client-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await machine.remove();
});

test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(text)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("the validator refuses a document with a mistake planted in it", async () => {
  const broken = text.replace('"title": "formsvc"', '"title": 7');
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test("it tells of every address that clients use", () => {
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(told).toEqual(
    expect.arrayContaining([
      "post /submit",
      "post /f/{key}",
      "get /submissions",
      "get /submissions/{id}",
      "delete /submissions/{id}",
      "get /submissions/{id}/files/{file}",
      "get /files/{file}",
      "get /healthz",
      "get /readyz",
      "get /formsvc.js",
    ]),
  );
});

test("it tells that a form may bring files, by a script and by a page", () => {
  const bodyOf = (path: string) => document.paths[path]?.["post"]?.requestBody?.content ?? {};
  expect(Object.keys(bodyOf("/submit"))).toEqual(["application/json", "multipart/form-data"]);
  expect(Object.keys(bodyOf("/f/{key}"))).toEqual([
    "application/x-www-form-urlencoded",
    "multipart/form-data",
  ]);
  for (const path of ["/submit", "/f/{key}"])
    expect(JSON.stringify(bodyOf(path)["multipart/form-data"])).toContain('"format":"binary"');
});

/** What the page of the API does not name: addresses, and parameters of its query, path and headers. */
function findUnnamed(page: string, paths: Document["paths"]): string[] {
  const names = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) => {
      const own = parameters.filter(({ name }) => !path.includes(`{${name}}`)).map(({ name }) => name);
      return [`${method.toUpperCase()} ${path}`].concat(own);
    }),
  );
  return [...new Set(names)].filter((name) => !page.includes(`\`${name}\``));
}

test("the page of the API names each address and each parameter that the document tells of", () => {
  const page = readFileSync(join(root, "docs/api.md"), "utf8");
  expect(findUnnamed(page, document.paths)).toEqual([]);
  const without = page.replaceAll("`cursor`", "").replaceAll("`X-Submitter-IP`", "");
  expect(findUnnamed(without, document.paths)).toEqual(["cursor", "X-Submitter-IP"]);
});

test("its errors are those of the error table, by status", () => {
  const { responses } = document.paths["/submit"]?.["post"] ?? { responses: {} };
  const spoken = Object.entries(responses).flatMap(([status, { description }]) =>
    description.split("; ").map((error) => `${status} ${error}`),
  );
  const known = Object.values(ERROR_TABLE).map(({ status, error }) => `${status} ${error}`);
  expect(known).toEqual(expect.arrayContaining(spoken.filter((line) => !line.startsWith("200"))));
  expect(spoken).toEqual(
    expect.arrayContaining(["429 Submission limit exceeded", "400 Validation failed", "409 Conflict"]),
  );
});

test("a typed client generated from it compiles, works, and does not compile when it is used wrongly", () => {
  const generator = fileURLToPath(new URL("../support/generate-client.ts", import.meta.url));
  const types = execFileSync(process.execPath, [generator], { input: text, encoding: "utf8" });
  writeFileSync(join(folder, "api.ts"), types);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const options = { strict: true, noEmit: true, module: "nodenext", target: "es2024", types: ["node"] };
  const compilerOptions = { ...options, skipLibCheck: true, allowImportingTsExtensions: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(folder, "use.ts"), PROGRAM);
  for (const [name, mistake] of Object.entries(MISTAKES))
    writeFileSync(join(folder, name), `${PROGRAM}\nawait ${mistake};\n`);
  const errors = typeErrors(folder);
  expect(Object.keys(errors).toSorted()).toEqual(Object.keys(MISTAKES));
  for (const said of Object.values(errors)) expect(said).toMatch(/error TS2\d{3}/);

  const env = { PATH: process.env["PATH"], URL_: server.url, SECRET: form.secret };
  const out = execFileSync(process.execPath, [join(folder, "use.ts")], { env, encoding: "utf8" });
  expect(JSON.parse(out)).toEqual({
    sent: true,
    name: "Ana",
    score: expect.any(Number),
    refused: "Validation failed",
    malformed: "Invalid request",
    deleted: 204,
    gone: 404,
  });
});

const MISTAKES = {
  "filter.ts": "client.GET('/submissions', { params: { query: { limit: 'x' } } })",
  "path.ts": "client.GET('/submission')",
};

const PROGRAM = `
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

const client = createClient<paths>({
  baseUrl: process.env["URL_"] ?? "",
  headers: { authorization: \`Bearer \${process.env["SECRET"]}\` },
});
const sent = await client.POST("/submit", { body: { name: "Ana" } });
const id: string = sent.data?.submission_id ?? "";
const listed = await client.GET("/submissions", { params: { query: { limit: 10, class: "low" } } });
const one = await client.GET("/submissions/{id}", { params: { path: { id } } });
const score: number | undefined = one.data?.spam_score;
const refused = await client.POST("/submit", { body: {} });
const malformed = await client.GET("/submissions", { params: { query: { cursor: "x" } } });
const deleted = await client.DELETE("/submissions/{id}", { params: { path: { id } } });
const gone = await client.GET("/submissions/{id}", { params: { path: { id } } });
console.log(JSON.stringify({
  sent: sent.data?.success,
  name: listed.data?.data[0]?.data["name"],
  score,
  refused: refused.error?.error,
  malformed: malformed.error?.error,
  deleted: deleted.response.status,
  gone: gone.response.status,
}));
`;
