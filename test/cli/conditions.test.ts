import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";

const schema = {
  topic: { type: "string" },
  budget: { type: "number" },
  message: { type: "string" },
} as const;

interface Conditions {
  readonly id: string;
  readonly conditions: readonly { field: string; is: string; value: string }[];
}

const SALES = { field: "topic", is: "=", value: "sales" };

test("conditions are given, shown, changed and cleared by commands, for recipients and webhooks", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint({ schema });
  const add = ["recipient", "add", "sales@example.com", "--endpoint", "Contact"];
  const when = ["--when", "topic=sales", "--when", "budget>1000"];
  const { recipient } = await machine.json<{ recipient: Conditions }>([...add, ...when]);
  expect(recipient.conditions).toEqual([SALES, { field: "budget", is: ">", value: "1000" }]);
  expect((await machine.mustRun(["recipient", "show", recipient.id])).stdout).toMatch(
    /only if +topic=sales\n *only if +budget>1000/,
  );
  const set = ["recipient", "set", recipient.id];
  expect(await machine.json([...set, "--when", "!topic"])).toMatchObject({
    recipient: { conditions: [{ field: "topic", is: "empty", value: "" }] },
  });
  expect(await machine.json([...set, "--digest", "daily"])).toMatchObject({
    recipient: { digest: "daily", conditions: [{ field: "topic", is: "empty", value: "" }] },
  });
  expect(await machine.json([...set, "--when", ""])).toMatchObject({ recipient: { conditions: [] } });
  const create = ["webhook", "create", "--endpoint", "Contact", "--url", "https://example.com/"];
  const { webhook } = await machine.json<{ webhook: Conditions }>([...create, "--when", "topic~sal"]);
  expect(webhook.conditions).toEqual([{ field: "topic", is: "~", value: "sal" }]);
  expect(await machine.json(["webhook", "set", webhook.id, "--when", "topic"])).toMatchObject({
    webhook: { conditions: [{ field: "topic", is: "filled", value: "" }] },
  });
});

test("an unknown field, a missing operator, 11 conditions and clearing beside others exit with 2 and change nothing", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint({ schema });
  const add = ["recipient", "add", "ana@example.com", "--endpoint", "Contact"];
  const eleven = Array.from({ length: 11 }, () => ["--when", "topic"]).flat();
  const wrong: [string[], string][] = [
    [["--when", "colour=red"], "no field colour"],
    [["--when", "=red"], "FIELD=VALUE"],
    [["--when", "budget>much"], "a number is expected"],
    [["--when", "", "--when", "topic"], "not both"],
    [eleven, "10 are allowed"],
  ];
  for (const [flags, words] of wrong) {
    const { code, stderr } = await machine.run([...add, ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  }
  expect(await machine.json(["recipient", "list"])).toEqual({ data: [] });
});

test("one address may be a recipient several times, with conditions that differ", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint({ schema });
  const add = ["recipient", "add", "ana@example.com", "--endpoint", "Contact"];
  await machine.mustRun([...add, "--when", "topic=sales"]);
  const { recipient } = await machine.json<{ recipient: Conditions }>([...add, "--when", "topic=press"]);
  const again = await machine.run([...add, "--when", "topic=sales"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("with these conditions already")]);
  const set = await machine.run(["recipient", "set", recipient.id, "--when", "topic=sales"]);
  expect([set.code, set.stderr]).toEqual([1, expect.stringContaining("with these conditions already")]);
});

test("who was left out stands beside the submission with the reason, and a replay sends to nobody who was", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema });
  const add = ["recipient", "add", "sales@example.com", "--endpoint", "Contact", "--when", "topic=sales"];
  const { recipient } = await machine.json<{ recipient: Conditions }>(add);
  const server = await machine.serveHere();
  const id = await post(server.url, endpoint.secret, { topic: "support" });
  await server.stop();
  const show = ["submission", "show", id];
  expect(await machine.json(show)).toMatchObject({
    not_sent: [{ id: recipient.id, kind: "mail", ...SALES }],
  });
  expect((await machine.mustRun(show)).stdout).toMatch(
    new RegExp(`not sent +${recipient.id}: topic is support \\(only if topic=sales\\)`),
  );
  const replay = ["mail", "replay", "--since", "2000-01-01T00:00:00Z"];
  expect(await machine.json(replay)).toMatchObject({ matched: 0, replayed: 0 });
});

test("doctor names a condition on a field that is gone, and how to change it", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint({ schema });
  const add = ["recipient", "add", "sales@example.com", "--endpoint", "Contact", "--when", "topic=sales"];
  const { recipient } = await machine.json<{ recipient: Conditions }>(add);
  const file = machine.write("schema.json", { message: { type: "string" } });
  await machine.mustRun(["schema", "set", id, file]);
  const { stdout } = await machine.run(["doctor"]);
  expect(stdout).toMatch(/a condition on "topic" counts as met/);
  expect(stdout).toContain(`formsvc recipient set ${recipient.id} --when`);
  // What is there may stay while something else is changed.
  const changed = ["recipient", "set", recipient.id, "--digest", "daily"];
  expect(await machine.json(changed)).toMatchObject({ recipient: { conditions: [SALES] } });
});

const FILE = `version: 1
workspaces:
  - name: Bakery
    endpoints:
      - name: Contact
        schema:
          topic: { type: string }
        recipients:
          - { address: ana@example.com, conditions: [{ field: topic, is: "=", value: sales }] }
          - { address: ana@example.com, conditions: [{ field: topic, is: empty }] }
        webhooks:
          - { url: "https://example.com/", conditions: [{ field: topic, is: "~", value: s }] }
`;

test("a file of forms has conditions by which recipients are told apart, and what is exported applies without a change", async () => {
  const machine = operatorMachine();
  machine.write("forms.yaml", FILE);
  await machine.mustRun(["apply", "forms.yaml", "--json"]);
  const { data } = await machine.json<{ data: Conditions[] }>(["recipient", "list"]);
  expect(data.map(({ conditions }) => conditions)).toEqual([
    [SALES],
    [{ field: "topic", is: "empty", value: "" }],
  ]);
  const { stdout } = await machine.mustRun(["export-config"]);
  machine.write("exported.yaml", stdout);
  for (const file of ["forms.yaml", "exported.yaml"])
    expect((await machine.mustRun(["apply", file])).stderr).toContain("nothing to change");
  machine.write("equal.yaml", FILE.replace("is: empty", 'is: "=", value: sales'));
  const equal = await machine.run(["apply", "equal.yaml"]);
  expect([equal.code, equal.stderr]).toEqual([2, expect.stringContaining("is the same recipient")]);
  machine.write("gone.yaml", FILE.replace("field: topic, is: empty", "field: colour, is: empty"));
  const gone = await machine.run(["apply", "gone.yaml"]);
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining("no field colour")]);
});

test("a schema that loses the field of a condition or of the automatic reply says so", async () => {
  const machine = operatorMachine();
  const email = { type: "string", format: "email" };
  await machine.createEndpoint({ schema: { ...schema, email } });
  const add = ["recipient", "add", "sales@example.com", "--endpoint", "Contact", "--when", "topic=sales"];
  const { recipient } = await machine.json<{ recipient: Conditions }>(add);
  await machine.mustRun(["autoreply", "set", "Contact", "--text", "Thanks."]);
  const without = machine.write("next.json", { message: schema.message });
  const { stderr } = await machine.mustRun(["schema", "set", "Contact", without]);
  expect(stderr).toContain(`${recipient.id}: its condition on "topic" counts as met now`);
  expect(stderr).toContain('its automatic reply is sent to nobody now: "email"');
  expect((await machine.mustRun(["schema", "set", "Contact", without])).stderr).not.toContain("now,");
});
