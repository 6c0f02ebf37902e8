import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleBrowserClient } from "../../scripts/embed-browser-client.ts";
import {
  module,
  moduleTypes,
  pageScript,
  script,
  scriptTypes,
} from "../../src/http/forms/browser-client.generated.ts";
import { sendRaw } from "../support/raw-get.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { typeErrors } from "../support/type-errors.ts";

const MAX_COMPRESSED_BYTES = 4.75 * 1024;
let server: TestServer;

beforeAll(async () => {
  server = await launchServer();
});
afterAll(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}) => sendRaw(`${server.url}${path}`, headers);

test("the embedded script, module and types are what src/browser/ makes", async () => {
  expect(await bundleBrowserClient()).toEqual({ script, scriptTypes, module, moduleTypes, pageScript });
});

test("the script is under 4.75 KB on the wire and comes from every origin", async () => {
  const packed = await get("/formsvc.js", { "accept-encoding": "gzip, br" });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(packed.body.length).toBeLessThan(MAX_COMPRESSED_BYTES);
  expect(packed.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(packed.headers["access-control-allow-origin"]).toBe("*");
  const plain = await get("/formsvc.js", { "accept-encoding": "gzip;q=0" });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(gunzipSync(packed.body).toString()).toBe(plain.body.toString());
});

test("a client that has it is told so by its ETag", async () => {
  const first = await get("/formsvc.js");
  const etag = first.headers["etag"] ?? "";
  for (const known of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
    const again = await get("/formsvc.js", { "if-none-match": known });
    expect([again.status, again.body.length, again.headers["etag"]]).toEqual([304, 0, etag]);
  }
  expect((await get("/formsvc.js", { "if-none-match": '"other"' })).status).toBe(200);
});

test("its first line names a versioned address that never changes, with the hash of just those bytes", async () => {
  const [line = ""] = (await get("/formsvc.js")).body.toString().split("\n");
  const [, path = "", integrity] =
    /src="…(\/formsvc-[0-9a-f]{12}\.js)" integrity="(sha384-[^"]+)"/.exec(line) ?? [];
  const pinned = await get(path);
  expect(pinned.status).toBe(200);
  expect(`sha384-${createHash("sha384").update(pinned.body).digest("base64")}`).toBe(integrity);
  expect(pinned.headers["cache-control"]).toContain("immutable");
});

test("the module is served with an address that never changes, and exports what its types say", async () => {
  const newest = (await get("/formsvc.mjs")).body.toString();
  const [, path = ""] = /(\/formsvc-[0-9a-f]{12}\.mjs)/.exec(newest) ?? [];
  const pinned = await get(path);
  expect(newest.endsWith(pinned.body.toString())).toBe(true);
  expect(pinned.headers["cache-control"]).toContain("immutable");
  expect(pinned.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  const types = (await get("/formsvc.d.mts")).body.toString();
  const declared = [...types.matchAll(/^export declare const (\w+):/gm)].map(([, name]) => name);
  const loaded = (await import(`data:text/javascript,${encodeURIComponent(newest)}`)) as Record<
    string,
    unknown
  >;
  expect(new Set(Object.keys(loaded))).toEqual(new Set(declared));
});

test("a server without a page may load the module; a bundled one asks for the server's address", async () => {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-module-"));
  try {
    const file = join(folder, "bundle.mjs");
    writeFileSync(file, (await get("/formsvc.mjs")).body);
    const loaded = (await import(file)) as { submit: (...args: unknown[]) => Promise<{ ok: boolean }> };
    await expect(loaded.submit("fpk_x", {})).rejects.toThrow("name the server in the options");
    const { publishable } = await server.addEndpoint();
    const data = { name: "Ana", email: "ana@example.org" };
    expect(await loaded.submit(publishable, data, { server: server.url })).toMatchObject({ ok: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the types are served beside it, and tell right use from wrong", async () => {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-types-"));
  try {
    const options = { strict: true, noEmit: true, lib: ["es2022", "dom"], types: [], module: "esnext" };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    writeFileSync(join(folder, "formsvc.d.ts"), (await get("/formsvc.d.ts")).body);
    const mistakes = { "call.ts": "formsvc.submit({});", "result.ts": "result.submission_id;" };
    for (const [name, line] of Object.entries({ "right.ts": "", ...mistakes }))
      writeFileSync(join(folder, name), `${USE}\n${line}\n`);
    expect(typeErrors(folder)).toEqual({
      "call.ts": expect.stringContaining("TS2554"),
      "result.ts": expect.stringContaining("TS2339"),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const USE = `
export const result = await formsvc.submit("fpk_x", { name: "Ana" }, { idempotencyKey: "1" });
if (result.ok) result.submission_id.trim();
else result.details?.["name"]?.issues[0]?.message.trim();
document.querySelector("form")?.addEventListener("formsvc:error", (event) => event.detail.error.trim());
`;
