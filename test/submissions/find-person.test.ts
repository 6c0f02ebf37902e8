import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine, post } from "../support/operator-machine.ts";

test("all that is kept of a person is found in whatever field depth and letter case, handed out and erased", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({
    email: { type: "string" },
    contact: { type: "object", properties: { email: { type: "string" } } },
    note: { type: "string" },
  });
  const server = await machine.serve();
  const send = (data: Record<string, unknown>): Promise<string> => post(server.url, endpoint.secret, data);
  const mine = [
    await send({ email: "ada@example.org", note: "UNIQUE-NOTE-OF-ADA" }),
    await send({ contact: { email: " Ada@Example.org " } }),
  ];
  const other = await send({ email: "bob@example.org", note: "ada@example.org wrote to me" });

  const search = ["submission", "find", "--field", "email=ada@example.org", "--json"];
  const found = (await machine.mustRun(search)).json() as { submissions: { id: string }[]; held: unknown[] };
  expect(found.submissions.map(({ id }) => id)).toEqual(mine);
  expect(found.held).toEqual([]);

  const unasked = await machine.run([...search, "--erase"]);
  expect(unasked.code).toBe(2);
  await machine.mustRun([...search, "--erase", "--yes"]);
  expect((await machine.mustRun(search)).json()).toEqual({ has_more: false, submissions: [], held: [] });
  expect((await machine.mustRun(["submission", "show", other, "--json"])).json()).toMatchObject({
    id: other,
  });

  await server.stop();
  expect(readFileSync(machine.database).includes("UNIQUE-NOTE-OF-ADA")).toBe(false);
});

test("a field without a value is refused", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  expect((await machine.run(["submission", "find", "--field", "email"])).code).toBe(2);
  expect((await machine.run(["submission", "find"])).code).toBe(2);
});
