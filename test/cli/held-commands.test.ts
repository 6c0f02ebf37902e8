import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";

test("held release tells what it released before the plan's limit stopped it, and exits with 4", async () => {
  const limitedTo = (monthlySubmissions: number) => ({
    plans: { hobby: { monthlySubmissions, endpoints: null, customSpam: false } },
  });
  const machine = operatorMachine();
  machine.configure(limitedTo(1));
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
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
