import { expect, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";

/** Two customers, each with a form named Contact. */
async function twoCustomers() {
  const machine = operatorMachine();
  await machine.mustRun(["account", "create", "ada@example.com"]);
  const make = async (workspace: string) => {
    await machine.mustRun(["workspace", "create", "--name", workspace]);
    return (await machine.createEndpoint({ name: "Contact", workspace })).id;
  };
  return { machine, bakery: await make("Bakery"), garage: await make("Garage") };
}

const tableOf = async (machine: OperatorMachine, args: readonly string[]): Promise<string> =>
  (await machine.mustRun(args)).stdout;

test("WORKSPACE/NAME names one of several endpoints of a name, in every command that takes an endpoint", async () => {
  const { machine, bakery, garage } = await twoCustomers();
  expect(await tableOf(machine, ["endpoint", "show", "Garage/Contact", "--json"])).toContain(garage);
  await machine.mustRun(["recipient", "add", "b@example.com", "--endpoint", "Bakery/Contact"]);
  const added = await machine.json<{ data: { endpoint_id: string }[] }>(["recipient", "list"]);
  expect(added.data.map((one) => one.endpoint_id)).toEqual([bakery]);
  const unclear = await machine.run(["endpoint", "show", "Contact"]);
  expect(unclear.code).toBe(2);
  expect(unclear.stderr).toContain(`${bakery} (workspace Bakery), ${garage} (workspace Garage)`);
  expect((await machine.run(["endpoint", "show", "Bakery/Nothing"])).code).toBe(3);
  expect((await machine.run(["endpoint", "show", "Nobody/Contact"])).code).toBe(3);
});

test("lists of forms, submissions, held posts, webhooks and recipients tell two customers' forms apart, by a reference", async () => {
  const { machine, garage } = await twoCustomers();
  expect(await tableOf(machine, ["endpoint", "list"])).toMatch(/^ep_\w+ {2}Contact {2}Garage /m);
  await machine.mustRun(["recipient", "add", "g@example.com", "--endpoint", garage]);
  const url = "https://example.com/hook";
  await machine.mustRun(["webhook", "create", "--endpoint", garage, "--url", url]);
  const stored = {
    id: "sub_01h455vb4pex5vsknk084sn02q",
    endpoint_id: garage,
    data: { email: "a@example.org" },
  };
  const line = {
    ...stored,
    spam_score: 0,
    spam_class: "low",
    spam_reasons: [],
    created_at: "2026-11-22T10:00:00.000Z",
  };
  const file = machine.write(
    "posts.ndjson",
    `${JSON.stringify({ ...line, ip_address: "", user_agent: "" })}\n`,
  );
  await machine.mustRun(["submission", "import", file]);
  for (const list of [
    ["recipient", "list"],
    ["webhook", "list"],
    ["submission", "list"],
    ["submission", "tail"],
  ])
    expect(await tableOf(machine, list), list.join(" ")).toContain(" Garage/Contact ");
});

test("usage without a name is a table of all workspaces, the fullest first", async () => {
  const machine = operatorMachine({
    plans: { hobby: { monthlySubmissions: 10, endpoints: null, customSpam: false } },
  });
  await machine.mustRun(["account", "create", "ada@example.com"]);
  await machine.mustRun(["workspace", "create", "--name", "Garage"]);
  const connection = machine.open();
  connection.exec("INSERT INTO usage SELECT id, '2026-01', 9 FROM workspace WHERE name = 'Garage'");
  const lines = (await tableOf(machine, ["workspace", "usage", "--month", "2026-01"])).trim().split("\n");
  expect(lines.map((each) => each.split(/ {2,}/).slice(1))).toEqual([
    ["NAME", "PLAN", "MONTH", "USED", "LIMIT", "REMAINING"],
    ["Garage", "hobby", "2026-01", "9", "10", "1"],
    ["ada", "hobby", "2026-01", "0", "10", "10"],
  ]);
  const asked = ["workspace", "usage", "--month", "2026-01"];
  const { data } = await machine.json<{ data: object[] }>([...asked, "--all"]);
  expect(data[0]).toMatchObject({ workspace_name: "Garage", used: 9, limit: 10, remaining: 1 });
  // Without --all, the JSON has the shape that it has with one workspace, or is none.
  const unnamed = await machine.run([...asked, "--json"]);
  expect([unnamed.code, unnamed.stdout, unnamed.stderr]).toEqual([
    2,
    "",
    expect.stringContaining("several workspaces"),
  ]);
  expect(await machine.json([...asked, "Garage"])).toMatchObject({ used: 9, remaining: 1 });
  connection.exec("UPDATE workspace SET plan = 'gold' WHERE name = 'Garage'");
  expect((await machine.run(["workspace", "usage"])).stderr).toContain("left out: 1");
});
