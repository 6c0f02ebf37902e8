import { expect, test } from "vitest";
import { startServer, type TestServer } from "../support/test-server.ts";

/** As Firefox sends it. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const ask = (server: TestServer, accept: string | null, method = "GET") =>
  server.request({ method, path: "/", headers: accept === null ? {} : { accept } });

test("a browser that opens the server's address is led to the dashboard", async () => {
  const server = await startServer();
  const { status, headers } = await ask(server, BROWSER);
  expect([status, headers["location"]]).toEqual([303, "/dashboard"]);
  expect((await ask(server, BROWSER, "HEAD")).status).toBe(303);
});

test("whoever asks for JSON, for anything, or posts is told as JSON that nothing is there", async () => {
  const server = await startServer();
  for (const accept of ["application/json", "application/json, text/html;q=0.5", "*/*", null]) {
    const { status, json } = await ask(server, accept);
    expect([status, json["error"]], String(accept)).toEqual([404, "Not found"]);
  }
  expect((await ask(server, BROWSER, "POST")).status).toBe(404);
});

test("without a dashboard, and for a network that may not see it, there is a plain page that tells nothing of it", async () => {
  const off = { dashboard: { enabled: false } };
  const elsewhere = { dashboard: { allowNetworks: ["203.0.113.0/24"] } };
  for (const overrides of [off, elsewhere, { dashboard: { listen: "127.0.0.1:0" } }]) {
    const { status, headers, text } = await ask(await startServer(overrides), BROWSER);
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).toContain("<h1>This is a form service</h1>");
    expect(text).not.toContain("dashboard");
  }
});
