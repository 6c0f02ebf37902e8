import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";

test("all that is kept of a person is found in whatever depth, list and letter case, handed out and erased", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({
    schema: {
      email: { type: "string" },
      contact: { type: "object", properties: { email: { type: "array", items: { type: "string" } } } },
      note: { type: "string" },
    },
  });
  const server = await machine.serve();
  const send = (data: Record<string, unknown>): Promise<string> => post(server.url, endpoint.secret, data);
  const mine = [
    await send({ email: "ada@example.org", note: "UNIQUE-NOTE-OF-ADA" }),
    await send({ contact: { email: ["bob@example.org", "\t Ada@Example.org\r\n"] } }),
  ];
  const other = await send({ email: "bob@example.org", note: "ada@example.org wrote to me" });

  const search = ["submission", "find", "--field", "email=ada@example.org", "--json"];
  const found = (await machine.mustRun(search)).json() as { submissions: { id: string }[]; held: unknown[] };
  expect(found.submissions.map(({ id }) => id)).toEqual(mine);
  expect(found.held).toEqual([]);

  expect(logOf(machine).includes("UNIQUE-NOTE-OF-ADA")).toBe(true);
  const unasked = await machine.run([...search, "--erase"]);
  expect(unasked.code).toBe(2);
  await machine.mustRun([...search, "--erase", "--yes"]);
  expect(logOf(machine).includes("UNIQUE-NOTE-OF-ADA")).toBe(false);
  expect((await machine.mustRun(search)).json()).toEqual({ has_more: false, submissions: [], held: [] });
  expect((await machine.mustRun(["submission", "show", other, "--json"])).json()).toMatchObject({
    id: other,
  });

  await server.stop();
  expect(readFileSync(machine.database).includes("UNIQUE-NOTE-OF-ADA")).toBe(false);
});

test("what is deleted or dropped by a command leaves the write-ahead log of a running server too", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const id = await post(server.url, endpoint.secret, { name: "UNIQUE-ADA", email: "ada@example.org" });
  expect(logOf(machine).includes("UNIQUE-ADA")).toBe(true);
  const deleted = await machine.mustRun(["submission", "delete", id, "--yes"]);
  expect(deleted.stderr).toBe("deleted: 1\n");
  expect(logOf(machine).includes("UNIQUE-ADA")).toBe(false);

  const trapped = { name: "UNIQUE-BOB", email: "bob@example.org", _gotcha: "filled" };
  await expect(post(server.url, endpoint.secret, trapped)).rejects.toThrow("429");
  expect(logOf(machine).includes("UNIQUE-BOB")).toBe(true);
  const { data } = (await machine.mustRun(["held", "list", "--json"])).json() as { data: { id: string }[] };
  await machine.mustRun(["held", "drop", data[0]?.id ?? "", "--yes"]);
  expect(logOf(machine).includes("UNIQUE-BOB")).toBe(false);
});

test("if another process keeps the log from being emptied, the command says so, and the deletion stands", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve();
  const id = await post(server.url, endpoint.secret);
  const reader = machine.open();
  reader.exec("BEGIN; SELECT count(*) FROM submission");
  const deleted = await machine.mustRun(["submission", "delete", id, "--yes"]);
  expect(deleted.stderr).toContain("formsvc.db-wal may hold it for now");
  expect((await machine.run(["submission", "show", id])).code).toBe(3);
});

function logOf(machine: { readonly database: string }): Buffer {
  return readFileSync(`${machine.database}-wal`);
}

test("a field without a value is refused", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  expect((await machine.run(["submission", "find", "--field", "email"])).code).toBe(2);
  expect((await machine.run(["submission", "find"])).code).toBe(2);
});
