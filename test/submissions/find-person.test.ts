import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { findPerson } from "../../src/submissions/find/find-person.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { twoOwners } from "../support/two-owners.ts";
import { ENGINES } from "../support/engines.ts";
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
  const server = await machine.serveHere();
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
  const server = await machine.serveHere();
  const id = await post(server.url, endpoint.secret, { name: "UNIQUE-ADA", email: "ada@example.org" });
  expect(logOf(machine).includes("UNIQUE-ADA")).toBe(true);
  const deleted = await machine.mustRun(["submission", "delete", id, "--now", "--yes"]);
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
  const server = await machine.serveHere();
  const id = await post(server.url, endpoint.secret);
  const reader = machine.open();
  reader.exec("BEGIN; SELECT count(*) FROM submission");
  const deleted = await machine.mustRun(["submission", "delete", id, "--now", "--yes"]);
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
  expect((await machine.run(["submission", "find", "--field", "email= \u200b"])).code).toBe(2);
});

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a search reads 250 submissions at once, and no more than 128 KiB of several, in whatever order large ones lie", async () => {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", 1));
    const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };
    const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
    const { id: endpointId } = await db.transaction(() => insertEndpointRow(workspace, made, plans, 1));
    const ids = await storeSubmissions(
      db,
      Array.from({ length: 600 }, (_, index) => ({
        endpointId,
        data: { email: `${index % 3}@example.org`, note: "a".repeat(index < 20 ? 60_000 : 10) },
        createdAt: 1 + index,
      })),
    );
    const slices: { readonly rows: number; readonly bytes: number }[] = [];
    const read = db.read.bind(db);
    db.read = async (work, gone) => {
      const answer = await read(work, gone);
      if (Array.isArray(answer)) {
        const rows = answer as readonly { readonly data: string }[];
        slices.push({ rows: rows.length, bytes: rows.reduce((sum, { data }) => sum + data.length, 0) });
      }
      return answer;
    };
    const { submissions } = await findPerson(db, {
      field: "email",
      value: "1@example.org",
      endpointIds: null,
    });
    expect(submissions.map(({ id }) => id)).toEqual(ids.filter((_, index) => index % 3 === 1));
    expect(Math.max(...slices.map(({ rows }) => rows))).toBe(250);
    expect(Math.max(...slices.map(({ bytes }) => bytes))).toBeLessThanOrEqual(131_072);
  });

  test("a person is found however the value was typed, among what was set aside too", async () => {
    const db = await temporary();
    const { shop } = await twoOwners(db);
    const given = { endpointId: shop.endpoint, createdAt: NOON + 1 };
    const composed = "José Núñez";
    const typed = [composed.normalize("NFD"), composed.toUpperCase(), ` ${composed}\u200b `];
    const data = typed.map((name) => Object.assign({ data: { person: [{ name }] } }, given));
    const setAside = { fields: { "person.name": composed.normalize("NFKD") }, dropped: 0 };
    const ids = await storeSubmissions(db, [...data, { ...given, data: {}, setAside }]);
    await storeSubmissions(db, [{ ...given, data: { name: "Jose Nunez" } }]);
    for (const value of [composed, composed.normalize("NFD")]) {
      const { submissions } = await findPerson(db, { field: "name", value, endpointIds: [shop.endpoint] });
      expect(submissions.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    }
  });

  test("of records that are too much for memory, as many are found as 16 MiB hold, and that there are more is told", async () => {
    const db = await temporary();
    const { shop } = await twoOwners(db);
    const records = Array.from({ length: 300 }, (_, index) => ({
      endpointId: shop.endpoint,
      data: { email: "robot@example.org", note: "a".repeat(60_000) },
      createdAt: NOON + index,
    }));
    const ids = await storeSubmissions(db, records);
    const sought = { field: "email", value: "robot@example.org", endpointIds: null };
    const { submissions, hasMore } = await findPerson(db, sought);
    expect(hasMore).toBe(true);
    expect(submissions.map(({ id }) => id)).toEqual(ids.slice(0, 280));
  });
});
