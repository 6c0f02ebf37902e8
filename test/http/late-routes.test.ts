import type { AddressInfo, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import { compileNetworks } from "../../src/foundation/ip-address.ts";
import { createLog } from "../../src/foundation/log.ts";
import { createGuardedServer } from "../../src/http/server.ts";
import { type Answer, sendRequest } from "../support/http-client.ts";

/** A server whose routes below `/late` come with the first request for one of them. */
async function startLate(add: (server: FastifyInstance) => Promise<void>) {
  const lines: string[] = [];
  const observed: (string | undefined)[] = [];
  const server = createGuardedServer({
    limits: { ...defaultConfig.server, ...defaultConfig.files },
    trustedProxies: compileNetworks([]),
    onUntrustedProxy: () => {},
    isDraining: () => false,
    provenKeyOf: () => null,
    observe: (route) => void observed.push(route),
    log: createLog("info", { write: (line) => void lines.push(line) }),
    late: [{ path: "/late", isFront: true, hasCodes: false, isFor: () => true, add }],
  });
  server.get("/early", () => "early");
  await server.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    sendRequest(`http://127.0.0.1:${port}`, { method, path, headers: { connection: "close", ...headers } });
  return { server, observed, ask, events: () => lines.map((line) => JSON.parse(line) as LogEvent) };
}

interface LogEvent {
  readonly event: string;
  readonly [fact: string]: unknown;
}

async function addThings(server: FastifyInstance): Promise<void> {
  server.get("/late", () => "all");
  server.get("/late/things/:id", (request) => (request.params as { readonly id: string }).id);
  server.post("/late/things", (request) => request.clientAddress);
}

test("late routes are not made before the first request for one, and once for many requests at the same time", async () => {
  let made = 0;
  const { ask } = await startLate(async (server) => {
    made += 1;
    await addThings(server);
  });
  for (const path of ["/early", "/nothing", "/lately", "/"]) await ask("GET", path);
  expect(made).toBe(0);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, id) => ask("GET", `/late/things/${id}`)));
  expect(answers.map(({ status, text }) => [status, text])).toEqual(
    answers.map((_, id) => [200, String(id)]),
  );
  expect((await ask("GET", "/late")).text).toBe("all");
  expect(made).toBe(1);
});

test("a late route is answered, counted and logged like any other: its id, its pattern, its methods", async () => {
  const { ask, events, observed } = await startLate(addThings);
  const found = await ask("GET", "/l%61te/things/7?a=b", { "x-request-id": "mine" });
  expect([found.status, found.text, found.headers["x-request-id"]]).toEqual([200, "7", "mine"]);
  const posted = await ask("POST", "/late/things");
  expect([posted.status, posted.text]).toEqual([200, "127.0.0.1"]);
  const refused = await ask("DELETE", "/late/things/7");
  expect([refused.status, refused.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  const unknown = await ask("GET", "/late/nothing");
  expect([unknown.status, unknown.json["message"]]).toEqual([404, "There is nothing at this address."]);
  await expect.poll(() => observed).toHaveLength(4);
  expect(observed).toEqual(expect.arrayContaining(["/late/things/:id", "/late/things", undefined]));
  const logged = events().filter(({ event }) => event === "request.answered");
  const byPath = Object.fromEntries(logged.map((line) => [line["path"], line]));
  expect(byPath).toMatchObject({
    "/late/things/:id": { status: 200, reqId: "mine" },
    "/late/things": { status: 200 },
    "/late/things/7": { status: 405 },
    "/late/nothing": { status: 404 },
  });
});

test("if late routes cannot be made, the request gets 500 and a line in the log, and the next one tries again", async () => {
  let tries = 0;
  const { ask, events } = await startLate(async (server) => {
    tries += 1;
    if (tries === 1) throw new Error("no memory left");
    await addThings(server);
  });
  const failed = await ask("GET", "/late");
  expect([failed.status, failed.json["error"]]).toEqual([500, "Internal server error"]);
  expect(failed.text).not.toContain("no memory left");
  const line = events().find(({ event }) => event === "request.failed");
  expect(line).toMatchObject({ err: { message: "no memory left" } });
  expect((await ask("GET", "/late")).status).toBe(200);
  expect(tries).toBe(2);
});

/** Time in which what waits for nothing would be done. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

test("a server that stops waits for late routes that are being made, also if who asked for them has left", async () => {
  const steps: string[] = [];
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { server, ask } = await startLate(async (instance) => {
    instance.addHook("onClose", async () => void steps.push("routes closed"));
    asked.resolve();
    await goOn.promise;
  });
  const sockets: Socket[] = [];
  server.server.on("connection", (socket) => sockets.push(socket));
  const answer = ask("GET", "/late").catch(() => null);
  await asked.promise;
  for (const socket of sockets) socket.destroy();
  await answer;
  const stopped = server.close().then(() => steps.push("server closed"));
  await turns(50);
  goOn.resolve();
  await stopped;
  expect(steps).toEqual(["routes closed", "server closed"]);
});

test("late routes end with their server, after its last answer, also those that are being made when it stops", async () => {
  for (const isMade of [true, false]) {
    const steps: string[] = [];
    const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { server, ask } = await startLate(async (instance) => {
      instance.addHook("preClose", async () => goOn.resolve());
      instance.addHook("onClose", async () => {
        await turns(10);
        steps.push("closed");
      });
      instance.get("/late", async () => {
        asked.resolve();
        await goOn.promise;
        await turns(50);
        steps.push("answered");
        return "whole";
      });
      if (isMade) return;
      asked.resolve();
      await stopping.promise;
    });
    const stopping = Promise.withResolvers<void>();
    const answer = ask("GET", "/late");
    await asked.promise;
    const stopped = server.close();
    stopping.resolve();
    expect((await answer).text).toBe("whole");
    await stopped;
    expect(steps).toEqual(["answered", "closed"]);
  }
});

test("a server that stops waits for an answer of late routes, however long it takes", async () => {
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { server, ask } = await startLate(async (instance) => {
    instance.get("/late", async () => {
      asked.resolve();
      await goOn.promise;
      return "whole";
    });
  });
  const answer = ask("GET", "/late");
  await asked.promise;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const stopped = server.close();
    await turns(50);
    vi.advanceTimersByTime(60_000);
    await turns(50);
    goOn.resolve();
    expect((await answer).text).toBe("whole");
    await stopped;
  } finally {
    vi.useRealTimers();
  }
});
