import { describe, expect, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { post, tryPost } from "../support/posts.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

type Settings = Record<string, unknown>;

/** Gives an empty machine whose commands and servers work on a database of each engine. */
const ENGINES: readonly { name: string; machineWith: (settings?: Settings) => Promise<OperatorMachine> }[] = [
  { name: "SQLite", machineWith: (settings) => Promise.resolve(operatorMachine(settings)) },
  ...(hasPostgresql
    ? [
        {
          name: "PostgreSQL",
          machineWith: async (settings: Settings = {}) =>
            operatorMachine({ database: { url: await temporaryAddress() }, ...settings }),
        },
      ]
    : []),
];

const schema = {
  name: { type: "string", required: true },
  email: { type: "string" },
  person: { type: "object", properties: { first: { type: "string" } } },
  list: { type: "array", items: { type: "object", properties: { a: { type: "number" } } } },
};

/** A post with inputs that the schema names and others, and what must be set aside of it. */
const sent = {
  z: "first",
  name: "Ada",
  allergies: "peanuts",
  person: { first: "A", age: 3 },
  list: [{ a: 1, b: "=2" }],
  _extra: "never",
  _gotcha: "",
};
const data = { name: "Ada", person: { first: "A" }, list: [{ a: 1 }] };
const beside = { z: "first", allergies: "peanuts", "person.age": 3, "list.0.b": "=2" };

interface Exported {
  readonly id: string;
  readonly unknown_fields?: Record<string, unknown>;
}

describe.each(ENGINES)("on $name", ({ machineWith }) => {
  test("what a new form does not name is kept beside the data, and told by the read API, lists, exports and webhooks", async () => {
    const machine = await machineWith({ webhooks: { allowNetworks: ["127.0.0.0/8"] } });
    const endpoint = await machine.createEndpoint({ schema });
    await using receiver = await startReceiverWith((response) => response.end());
    await machine.json(["webhook", "create", "--endpoint", endpoint.id, "--url", receiver.url]);
    const shown = await machine.json<{ endpoint: { unknown_fields: string } }>([
      "endpoint",
      "show",
      endpoint.id,
    ]);
    expect(shown.endpoint.unknown_fields).toBe("set-aside");
    const server = await machine.serveHere();
    const id = await post(server.url, endpoint.secret, sent);
    const plain = await post(server.url, endpoint.secret, data);

    const read = async (path: string): Promise<string> => {
      const headers = { authorization: `Bearer ${endpoint.secret}` };
      return (await fetch(`${server.url}${path}`, { headers })).text();
    };
    const right = `"data":${JSON.stringify(data)},"unknown_fields":${JSON.stringify(beside)},"spam_score"`;
    const without = `"data":${JSON.stringify(data)},"spam_score"`;
    expect(await read(`/submissions/${id}`)).toContain(right);
    expect(await read(`/submissions/${plain}`)).toContain(without);
    expect(await read("/submissions")).toContain(right);
    expect((await machine.mustRun(["submission", "export", "--json"])).stdout).toContain(right);
    const list = await machine.json<{ data: Exported[] }>(["submission", "list"]);
    expect(list.data.map(({ unknown_fields: fields }) => fields)).toEqual([undefined, beside]);
    const bodies = await until(() => (receiver.received.length === 2 ? receiver.received : null));
    const told = bodies.map(({ body }) => body.toString());
    expect(told.find((body) => body.includes(id))).toContain(right);
    expect(told.find((body) => body.includes(plain))).toContain(without);

    const csv = (await machine.mustRun(["submission", "export", "--format", "csv"])).stdout.split("\r\n");
    expect(csv[0]).toMatch(/user_agent,data\.name,data\.email,data\.person,data\.list,unknown_fields$/);
    expect(csv[1]).toContain(`,"${JSON.stringify(beside).replaceAll('"', '""')}"`);
    expect(csv[2]).toMatch(/,$/);
    const text = (await machine.mustRun(["submission", "show", id])).stdout;
    expect(text).toMatch(/not among the fields of the form\n +z +first\n +allergies +peanuts\n/);
  });

  test("a held post keeps them, its release takes them along, and a webhook is told of them", async () => {
    const machine = await machineWith({
      plans: { hobby: { monthlySubmissions: 1, endpoints: null, customSpam: true } },
      webhooks: { allowNetworks: ["127.0.0.0/8"] },
    });
    const endpoint = await machine.createEndpoint({ schema });
    await using receiver = await startReceiverWith((response) => response.end());
    await machine.json(["webhook", "create", "--endpoint", endpoint.id, "--url", receiver.url]);
    const server = await machine.serveHere();
    await post(server.url, endpoint.secret, data);
    expect((await tryPost(server.url, endpoint.secret, sent)).status).toBe(429);
    const [held] = (await machine.json<{ data: Exported[] }>(["held", "list"])).data;
    expect(held?.unknown_fields).toEqual(beside);
    const found = await machine.json<{ held: Exported[] }>([
      "submission",
      "find",
      "--field",
      "allergies=Peanuts",
    ]);
    expect(found.held.map(({ unknown_fields: fields }) => fields)).toEqual([beside]);
    await machine.mustRun(["workspace", "set-plan", "pro"]);
    await machine.mustRun(["held", "release", held?.id ?? ""]);
    const [released] = (await machine.json<{ data: Exported[] }>(["submission", "list"])).data;
    expect(released?.unknown_fields).toEqual(beside);
    const message = await until(() => receiver.received[1] ?? null);
    expect(message.body.toString()).toContain(`"unknown_fields":${JSON.stringify(beside)},"spam_score"`);
  });

  test("a person is found by a value that was set aside, at any depth and in lists, and erased", async () => {
    const machine = await machineWith();
    const endpoint = await machine.createEndpoint({ schema });
    const server = await machine.serveHere();
    const mine = [
      await post(server.url, endpoint.secret, { name: "A", mail: " Ada@example.org" }),
      await post(server.url, endpoint.secret, {
        name: "B",
        person: { mail: ["x@example.org", "ada@example.org"] },
      }),
      await post(server.url, endpoint.secret, { name: "C", deep: { mail: { mail: "ada@example.org" } } }),
    ];
    await post(server.url, endpoint.secret, {
      name: "D",
      email2: "ada@example.org",
      mail: "bob@example.org",
    });
    const search = ["submission", "find", "--field", "mail=ada@example.org"];
    const found = await machine.json<{ submissions: Exported[] }>(search);
    expect(found.submissions.map(({ id }) => id)).toEqual(mine);
    await machine.mustRun([...search, "--erase", "--yes"]);
    expect((await machine.json<{ submissions: Exported[] }>(search)).submissions).toEqual([]);
    const left = (await machine.mustRun(["submission", "export", "--json"])).stdout;
    expect(left.split("\n").filter(Boolean)).toHaveLength(1);
  });

  test("they are copied to the other engine", async () => {
    const machine = await machineWith();
    const endpoint = await machine.createEndpoint({ schema });
    const server = await machine.serveHere();
    await post(server.url, endpoint.secret, { ...sent, essay: "x".repeat(5000) });
    const before = (await machine.mustRun(["submission", "export", "--json"])).stdout;
    await server.stop();
    await machine.mustRun(["copy", "--to", machine.path("copy.db")]);
    const copied = (
      await machine.mustRun(["submission", "export", "--json", "--db", machine.path("copy.db")])
    ).stdout;
    expect(copied).toBe(before);
  });
});

test("values without room are counted in the answer, the export and the webhook, and nothing else is lost", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  const id = await post(server.url, endpoint.secret, { name: "Ada", essay: "x".repeat(5000), short: 1 });
  const nothing = await post(server.url, endpoint.secret, { name: "Ada", essay: "x".repeat(5000) });
  const lines = (await machine.mustRun(["submission", "export", "--json"])).stdout;
  expect(lines).toContain(`"${id}"`);
  expect(lines).toContain(
    '"data":{"name":"Ada"},"unknown_fields":{"short":1},"unknown_fields_dropped":1,"spam',
  );
  expect(lines).toContain('"data":{"name":"Ada"},"unknown_fields_dropped":1,"spam');
  expect((await machine.mustRun(["submission", "show", nothing])).stdout).toMatch(/lost for lack of room +1/);
});

test("an export without such values has no column for them", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret, data);
  const csv = (await machine.mustRun(["submission", "export", "--format", "csv"])).stdout;
  expect(csv).not.toContain("unknown_fields");
});

test("an export is imported with them, byte for byte", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret, { ...sent, essay: "x".repeat(5000) });
  await post(server.url, endpoint.secret, data);
  const lines = (await machine.mustRun(["submission", "export", "--json"])).stdout;
  const other = operatorMachine();
  const target = await other.createEndpoint({ schema });
  const file = other.write("all.ndjson", lines);
  await other.mustRun(["submission", "import", file, "--endpoint", target.id]);
  const again = (await other.mustRun(["submission", "export", "--json"])).stdout;
  expect(again.replaceAll(target.id, endpoint.id)).toBe(lines);
});

test("the setting is changed by a command: dropped, kept among the data, or refused", async () => {
  const machine = operatorMachine();
  const { id, secret } = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  const set = (what: string) => machine.mustRun(["endpoint", "set", id, "--unknown-fields", what]);
  const newest = async () => (await machine.json<{ data: Exported[] }>(["submission", "list"])).data[0];
  await set("drop");
  await until(async () => {
    await post(server.url, secret, { name: "A", x: 1 });
    return (await newest())?.unknown_fields === undefined ? true : null;
  });
  expect(await newest()).toMatchObject({ data: { name: "A" } });
  await set("keep");
  await until(async () => {
    await post(server.url, secret, { name: "A", x: 1 });
    return "x" in ((await newest()) as unknown as { data: object }).data ? true : null;
  });
  await set("reject");
  await until(async () =>
    (await tryPost(server.url, secret, { name: "A", x: 1 })).status === 400 ? true : null,
  );
  await set("set-aside");
  await until(async () =>
    (await tryPost(server.url, secret, { name: "A", x: 1 })).status === 200 ? true : null,
  );
  expect((await newest())?.unknown_fields).toEqual({ x: 1 });
  const wrong = await machine.run(["endpoint", "set", id, "--unknown-fields", "aside"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("set-aside")]);
});

test("no line of an import has more than a post can have", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema });
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret, data);
  const line = JSON.parse((await machine.mustRun(["submission", "export", "--json"])).stdout) as object;
  for (const fields of [
    { x: "y".repeat(4096) },
    Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`x${i}`, 1])),
  ]) {
    const file = machine.write("wrong.ndjson", { ...line, unknown_fields: fields });
    const ran = await machine.run(["submission", "import", file]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("unknown_fields")]);
  }
});
