import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
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

test("healthcheck never looks at the database: it ends with 0 although there is a folder, garbage or a file that nobody may read", async () => {
  const machine = emptyMachine();
  const serving = emptyMachine();
  const { url } = await serving.serve();
  const garbage = machine.write("garbage.db", "no database at all");
  const closed = machine.write("closed.db", "");
  chmodSync(closed, 0);
  mkdirSync(machine.path("folder.db"));
  for (const file of [garbage, closed, machine.path("folder.db"), machine.path("none/x.db")]) {
    const env = { FORMSVC_SERVER_PORT: new URL(url).port, FORMSVC_DATABASE_PATH: file };
    expect(await machine.run(["healthcheck"], { env })).toMatchObject({ code: 0, stdout: "" });
  }
  // An address of PostgreSQL at which nobody answers.
  const env = {
    FORMSVC_SERVER_PORT: new URL(url).port,
    FORMSVC_DATABASE_URL: "postgresql://formsvc@127.0.0.1:9/formsvc",
  };
  expect(await machine.run(["healthcheck"], { env })).toMatchObject({ code: 0 });
  expect(readFileSync(garbage, "utf8")).toBe("no database at all");
});

const hasStrace = spawnSync("strace", ["--version"]).error === undefined;
if (!hasStrace) process.stderr.write("NOT TESTED: which files healthcheck opens (apt-get install strace)\n");

test.skipIf(!hasStrace)("healthcheck opens no file of the database that its server has", async () => {
  const serving = emptyMachine();
  const { url } = await serving.serve();
  const trace = serving.path("trace");
  const env = { FORMSVC_SERVER_PORT: new URL(url).port };
  const within = ["strace", "-f", "-e", "trace=%file", "-o", trace];
  expect(await serving.run(["healthcheck"], { env, within })).toMatchObject({ code: 0 });
  const calls = readFileSync(trace, "utf8");
  expect(calls).toContain("formsvc.config.json");
  expect(calls).not.toContain("formsvc.db");
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
