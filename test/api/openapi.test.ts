import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, onTestFinished, test } from "vitest";
import { openapiDocument } from "../../src/api/openapi.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { ruleOf } from "../../src/operations/access.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { startServer } from "../support/test-server.ts";
import { typeErrors } from "../support/type-errors.ts";

interface Described {
  readonly operationId: string;
  readonly "x-operation": string;
  readonly security: readonly unknown[];
}

const text = JSON.stringify(openapiDocument(null), null, 2);
const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Described>> };
const LOGIN_PATHS = ["/api/v1/login", "/api/v1/login/token"];
const root = fileURLToPath(new URL("../..", import.meta.url));

test("the document is valid OpenAPI 3.1, and a mistake in it is found", async () => {
  const validator = new Validator();
  expect(await validator.validate(text)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  expect(text).not.toContain("readOnly");
  expect((await new Validator().validate(text.replace('"in": "path"', '"in": "nowhere"'))).valid).toBe(false);
});

test("the server gives it to everybody, and it tells of each route with its operation and scopes", async () => {
  const server = await startServer();
  const served = await askWith(server, null)("GET", "/openapi.json");
  expect([served.status, served.json]).toEqual([200, JSON.parse(text)]);
  for (const { method, path, operation } of ROUTES) {
    const described = paths[`/api/v1${path.replace(/:(\w+)/g, "{$1}")}`]?.[method.toLowerCase()];
    expect(described).toMatchObject({
      "x-operation": operation.name,
      security: [{ token: ruleOf(operation.access).scopes ?? [] }],
    });
  }
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((each) => each.operationId),
  );
  expect(new Set(ids).size).toBe(ROUTES.length + LOGIN_PATHS.length);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
});

test("it tells of the login, which needs no token, with what the server takes and answers", async () => {
  const server = await startServer();
  for (const path of LOGIN_PATHS) expect(paths[path]?.["post"]).toMatchObject({ security: [] });
  const begun = await askWith(server, null)("POST", "/login", { body: { client_name: "mine" } });
  const said = paths["/api/v1/login"]?.["post"] as unknown as {
    responses: Record<string, { content: { "application/json": { schema: { required: string[] } } } }>;
  };
  const { required } = said.responses["200"]!.content["application/json"].schema;
  expect([begun.status, Object.keys(begun.json).toSorted()]).toEqual([200, required.toSorted()]);
  const polled = await askWith(server, null)("POST", "/login/token", { body: {} });
  expect([polled.status, polled.json]).toMatchObject([400, { error: "Invalid request" }]);
});

test("it tells of the ETag of what one row shows, and of the answer if nothing was changed since", async () => {
  const server = await startServer();
  const { id } = await server.addEndpoint();
  const token = await makeToken(server);
  const headers = { authorization: `Bearer ${token}` };
  const url = `${server.url}/api/v1/endpoints/${id}`;
  const etag = (await fetch(url, { headers })).headers.get("etag") ?? "";
  const again = await fetch(url, { headers: { ...headers, "if-none-match": etag } });
  expect([etag, again.status]).toEqual([expect.stringMatching(/^"/), 304]);
  const { get, patch } = paths["/api/v1/endpoints/{endpoint}"] ?? {};
  expect(get).toHaveProperty("responses.304");
  expect(get).toHaveProperty(
    "parameters",
    expect.arrayContaining([expect.objectContaining({ name: "If-None-Match" })]),
  );
  expect(patch).not.toHaveProperty("responses.304");
});

test("it tells of the answer to a request that names what is not there, wherever it is named", async () => {
  const server = await startServer();
  await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const submissions = ["sub_01h455vb4pex5vsknk084sn02q"];
  const delivery = "msg_01h455vb4pex5vsknk084sn02q";
  for (const [method, path, request] of [
    ["GET", "/endpoints", { query: "workspace=none" }],
    ["GET", "/submissions", { query: "endpoint=none" }],
    ["GET", "/submissions/export", { query: "workspace=none" }],
    ["GET", "/submissions", { query: "assignee=none@example.com" }],
    ["GET", "/webhook-deliveries", { query: "webhook=wh_01h455vb4pex5vsknk084sn02q" }],
    ["GET", "/mail-deliveries", { query: "recipient=rcpt_01h455vb4pex5vsknk084sn02q" }],
    ["GET", "/files", { query: "submission=none" }],
    ["POST", "/endpoints", { body: { name: "x", schema: {}, workspace: "none" } }],
    ["POST", "/webhooks", { body: { endpoint: "none", url: "https://example.com" } }],
    ["POST", "/webhook-deliveries/replay", { body: { delivery } }],
    ["POST", "/submissions/delete", { body: { submissions } }],
    ["POST", "/submissions/mark", { body: { submissions, mark: "spam" } }],
    ["POST", "/spam/explain", { body: { post: submissions[0] } }],
    ["POST", "/held/drop", { body: { held: ["held_01h455vb4pex5vsknk084sn02q"] } }],
    ["POST", "/workspaces", { body: { name: "x", account: "none" } }],
  ] as const) {
    const { status } = await ask(method, path, request);
    const said = paths[`/api/v1${path}`]?.[method.toLowerCase()];
    expect([method, path, status]).toEqual([method, path, 404]);
    expect(said, `${method} ${path}`).toHaveProperty("responses.404");
  }
});

test("a typed client generated from it compiles, works, and does not compile when it is used wrongly", async () => {
  const server = await startServer();
  await server.addEndpoint();
  const token = await makeToken(server);
  const folder = mkdtempSync(join(tmpdir(), "formsvc-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const generator = join(root, "test/support/generate-client.ts");
  const types = execFileSync(process.execPath, [generator], { input: text, encoding: "utf8" });
  writeFileSync(join(folder, "api.ts"), types);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const options = { strict: true, noEmit: true, module: "nodenext", target: "es2024", types: ["node"] };
  const compilerOptions = { ...options, skipLibCheck: true, allowImportingTsExtensions: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(folder, "use.ts"), PROGRAM);
  for (const [name, mistake] of Object.entries(MISTAKES))
    writeFileSync(join(folder, name), PROGRAM.replace("// here", `await ${mistake};`));
  const errors = typeErrors(folder);
  expect(Object.keys(errors).toSorted()).toEqual(Object.keys(MISTAKES));
  for (const said of Object.values(errors)) expect(said).toMatch(/error TS2\d{3}/);
  const use = (await import(/* @vite-ignore */ join(folder, "use.ts"))) as {
    run(url: string, token: string): Promise<unknown>;
  };
  expect(await use.run(server.url, token)).toEqual({
    name: "Shop",
    secret: true,
    fields: ["email"],
    gone: 204,
  });
});

const MISTAKES = {
  "body.ts": 'client.POST("/api/v1/endpoints", { body: { name: 7, schema: {} } })',
  "filter.ts": 'client.GET("/api/v1/endpoints", { params: { query: { limit: "x" } } })',
  "path.ts": 'client.GET("/api/v1/endpoint")',
};

const PROGRAM = `
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

export async function run(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
  // here
  const body = { name: "Shop", schema: { email: { type: "string" } } };
  const made = await client.POST("/api/v1/endpoints", { body });
  const endpoint: string = made.data?.endpoint.id ?? "";
  const shown = await client.GET("/api/v1/endpoints/{endpoint}", { params: { path: { endpoint } } });
  const name: string | undefined = shown.data?.endpoint.name;
  const gone = await client.DELETE("/api/v1/endpoints/{endpoint}", { params: { path: { endpoint } } });
  const secret = made.data?.keys.secret?.startsWith("fsk_");
  return { name, secret, fields: Object.keys(shown.data?.endpoint.schema ?? {}), gone: gone.response.status };
}
`;
