import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { isAtDistance } from "../support/distance.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";
import { openForTest } from "../support/temporary-database.ts";

test("held release tells what it released before the plan's limit stopped it, and exits with 4", async () => {
  const limitedTo = (monthlySubmissions: number) => ({
    plans: { hobby: { monthlySubmissions, endpoints: null, customSpam: false } },
  });
  const machine = operatorMachine();
  machine.configure(limitedTo(1));
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret);
  for (let count = 0; count < 4; count += 1) {
    const headers = { authorization: `Bearer ${endpoint.secret}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: `Ada ${count}`, email: "ada@example.org" });
    const refused = await fetch(`${server.url}/submit`, { method: "POST", headers, body });
    expect(refused.status).toBe(429);
  }
  await server.stop();
  machine.configure(limitedTo(3));
  const { data } = (await machine.mustRun(["held", "list", "--json"])).json() as { data: { id: string }[] };
  const ids = data.map(({ id }) => id);

  const ran = await machine.run(["held", "release", ...ids.slice(0, 3), "--json"]);
  expect(ran.code).toBe(4);
  expect(ran.json()).toEqual({
    released: ids
      .slice(0, 2)
      .map((held) => ({ held, submission: expect.stringMatching(/^sub_/) as unknown })),
  });
  expect(ran.stderr).toContain("plan_limit");

  machine.configure(limitedTo(4));
  const plain = await machine.run(["held", "release", ...ids.slice(2)]);
  expect(plain.code).toBe(4);
  expect(plain.stdout).toMatch(/^sub_\w+\n$/);
  expect((await machine.run(["held", "release", ids[3]!, "--json"])).stdout).toBe("");
});

test("held drop-all drops what an endpoint or all endpoints hold, and says how many", async () => {
  const machine = operatorMachine();
  const [contact, shop] = [await machine.createEndpoint(), await machine.createEndpoint({ name: "Shop" })];
  const server = await machine.serveHere();
  for (const { secret } of [contact, contact, shop]) {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "Robot", email: "ada@example.org", _gotcha: "x" });
    expect((await fetch(`${server.url}/submit`, { method: "POST", headers, body })).status).toBe(429);
  }
  await server.stop();
  expect(await machine.json(["held", "drop-all", "--endpoint", contact.id, "--yes"])).toEqual({ dropped: 2 });
  const left = await machine.json<{ data: object[] }>(["held", "list"]);
  expect(left.data).toMatchObject([{ endpoint_id: shop.id }]);
  const plain = await machine.mustRun(["held", "drop-all", "--yes"]);
  expect(plain.stderr).toContain("dropped: 1");
  expect(await machine.json(["held", "drop-all", "--yes"])).toEqual({ dropped: 0 });
  expect((await machine.run(["held", "drop-all", "--endpoint", "nobody", "--yes"])).code).toBe(3);
  // Nobody is asked about what cannot be done.
  for (const wrong of [
    ["drop-all", "--endpoint", "nobody"],
    ["drop", "held_01h455vb4pex5vsknk084sn02q"],
  ]) {
    const { code, stderr } = await machine.run(["held", ...wrong]);
    expect([code, stderr]).toEqual([3, expect.not.stringContaining("--yes")]);
  }
  expect((await machine.run(["held", "drop-all", "--endpoint", "Shop"])).stderr).toContain("give --yes");
});

test.skipIf(isAtDistance)(
  "what is dropped leaves the database's log too, whoever else has the database open",
  async () => {
    const machine = operatorMachine();
    const { secret } = await machine.createEndpoint();
    const server = await machine.serveHere();
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "Robot", email: "ada@example.org", _gotcha: "x" });
    expect((await fetch(`${server.url}/submit`, { method: "POST", headers, body })).status).toBe(429);
    await server.stop();
    const reader = openForTest(machine.database);
    await machine.mustRun(["held", "drop-all", "--yes"]);
    expect(statSync(`${machine.database}-wal`).size).toBe(0);
    reader.close();
  },
);
