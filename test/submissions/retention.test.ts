import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { shortenAddress } from "../../src/foundation/ip-address.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { post, storedIds } from "../support/posts.ts";
import { until } from "../support/until.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

test("submissions older than their endpoint keeps them are deleted by the server, and no others", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const keeping = await machine.mustRun(
    ["endpoint", "create", "--name", "Archive", "--schema", "-", "--json"],
    { input: "{}" },
  );
  const archive = (keeping.json() as { endpoint: { id: string } }).endpoint.id;
  const connection = machine.open();
  const insert = submissionAdder(connection);
  const add = (endpointId: string, daysAgo: number): string =>
    insert({
      endpointId,
      data: { name: `${daysAgo} DAYS OLD` },
      createdAt: Date.now() - daysAgo * DAY_MS,
    });
  const old = Array.from({ length: 450 }, () => add(endpoint.id, 31));
  const young = add(endpoint.id, 29);
  const archived = add(archive, 3000);
  await machine.mustRun(["endpoint", "set", endpoint.id, "--keep-days", "30"]);
  const server = await machine.serveHere();
  await until(() => server.lines.some((line) => line["event"] === "retention.expired"));
  expect(server.lines.find((line) => line["event"] === "retention.expired")?.["submissions"]).toBe(
    old.length,
  );
  expect(storedIds(machine.database)).toEqual(new Set([young, archived]));
  await until(() => !readFileSync(`${machine.database}-wal`).includes("31 DAYS OLD"));
});

test("addresses are stored in full, shortened or not at all, as the endpoint says", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  const stored = async (): Promise<unknown> => {
    const id = await post(server.url, endpoint.secret);
    return (await machine.json(["submission", "show", id]))["ip_address"];
  };
  for (const [how, address] of [
    ["short", "127.0.0.0"],
    ["none", ""],
    ["full", "127.0.0.1"],
  ] as const) {
    await machine.mustRun(["endpoint", "set", "Contact", "--store-address", how]);
    await expect.poll(stored).toBe(address);
  }
});

test("a shortened address keeps the network and nothing of the host", () => {
  expect(shortenAddress("192.0.2.77")).toBe("192.0.2.0");
  expect(shortenAddress("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1::");
  expect(shortenAddress("nonsense")).toBe("");
});

test("days to keep are checked, and forever takes them back", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  for (const days of ["0", "-1", "1.5", "999999", "soon"]) {
    expect([days, (await machine.run(["endpoint", "set", "Contact", `--keep-days=${days}`])).code]).toEqual([
      days,
      2,
    ]);
  }
  const set = async (days: string): Promise<unknown> => {
    const ran = await machine.mustRun(["endpoint", "set", "Contact", "--keep-days", days, "--json"]);
    return (ran.json() as { endpoint: { keep_days: unknown } }).endpoint.keep_days;
  };
  expect(await set("90")).toBe(90);
  expect(await set("forever")).toBe(null);
});

test("settings without a change are refused, so that nobody believes in one", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.run(["endpoint", "set", "Contact"]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("give something to change");
});
