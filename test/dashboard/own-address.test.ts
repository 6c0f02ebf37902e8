import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { dashboardUrl } from "../support/dashboard-address.ts";
import { sendRequest } from "../support/http-client.ts";
import { openEvents } from "../support/event-stream.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

test("with dashboard.listen the dashboard is at that address alone, and posts are not", async () => {
  const server = await startServer({ dashboard: { listen: "127.0.0.1:0" } });
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const own = dashboardUrl(server);
  const get = (base: string, path: string) =>
    sendRequest(base, { method: "GET", path, headers: { cookie: ada.cookie } });
  expect((await get(own, "/dashboard/notifications")).status).toBe(200);
  for (const path of ["/dashboard", "/dashboard/notifications", "/dashboard/sign-in"]) {
    expect([path, (await get(server.url, path)).status]).toEqual([path, 404]);
  }
  expect((await server.post(endpoint.secret, goodPost)).status).toBe(200);
  for (const path of ["/submit", "/healthz", "/openapi.json"])
    expect((await get(own, path)).status).toBe(404);
});

test("the dashboard's own address has the guards of the other: ids, sizes, and errors as JSON outside of it", async () => {
  const server = await startServer({ dashboard: { listen: "127.0.0.1:0" } });
  const own = dashboardUrl(server);
  const { status, headers, json } = await sendRequest(own, { method: "GET", path: "/nothing" });
  expect([status, json["message"]]).toEqual([404, "There is nothing at this address."]);
  expect(headers["x-request-id"]).toMatch(/./);
  const large = { method: "GET", path: "/dashboard", headers: { "x-large": "a".repeat(20_000) } };
  expect((await sendRequest(own, large)).status).toBe(431);
});

test("a stop closes the dashboard's own address too, with the streams that are open there", async () => {
  const server = await startServer({ dashboard: { listen: "127.0.0.1:0" } });
  const ada = await visit(server);
  const stream = await openEvents(`${dashboardUrl(server)}/dashboard/events`, ada.cookie);
  expect(stream.status).toBe(200);
  await server.restart();
  expect(await stream.next()).toBeNull();
  expect(server.log.join("")).not.toContain("server.grace-over");
});

test("an address that is taken ends the start with the setting's name", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  await expect(startServer({ dashboard: { listen: `127.0.0.1:${port}` } })).rejects.toMatchObject({
    code: "failed",
    message: `127.0.0.1:${port}: the port is taken`,
    facts: { hint: { kind: "choose_free_port", listener: "dashboard" } },
  });
});
