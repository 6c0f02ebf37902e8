import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";

/** The port of a server of the test's own; null gives one on which nobody listens. */
async function portOf(listener: RequestListener | null): Promise<number> {
  const server = createServer(listener ?? (() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  if (listener === null) close();
  else onTestFinished(close);
  return port;
}

test("healthcheck ends with 0 if the server of this configuration takes posts, and makes no database", async () => {
  const machine = emptyMachine();
  const serving = emptyMachine();
  const { url } = await serving.serve();
  const env = { FORMSVC_SERVER_PORT: new URL(url).port, FORMSVC_SERVER_HOST: "0.0.0.0" };
  expect(await machine.run(["healthcheck"], { env })).toMatchObject({ code: 0, stdout: "" });
  expect(await machine.json(["healthcheck"], { env })).toEqual({ ready: true, url: `${url}/readyz` });
  expect((await machine.run(["endpoint", "list"])).stderr).toContain("there is no database");
});

test("healthcheck ends with 1 and the reason if nobody answers, not in time, or with another status", async () => {
  const machine = emptyMachine();
  const cases: [RequestListener | null, string][] = [
    [null, "ECONNREFUSED"],
    [() => {}, "no answer in 3 seconds"],
    [(_, response) => response.writeHead(503).end("{}"), "answered 503: the server takes no posts"],
    [(_, response) => response.end("x".repeat(100_000)), "the answer is not this server's"],
  ];
  for (const [listener, reason] of cases) {
    const env = { FORMSVC_SERVER_PORT: String(await portOf(listener)) };
    const ran = await machine.run(["healthcheck"], { env });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(reason);
  }
  const wrong = await machine.run(["healthcheck"], { env: { FORMSVC_SERVER_PORT: "none" } });
  expect(wrong.code).toBe(2);
});
