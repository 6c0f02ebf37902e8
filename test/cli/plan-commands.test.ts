import { expect, test } from "vitest";
import { isAtDistance } from "../support/distance.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";

const limited = (monthlySubmissions: number | null) => ({
  monthlySubmissions,
  endpoints: null,
  customSpam: false,
});
const HELD = "what comes beyond is answered 429 and held";

const makeEndpoint = (machine: OperatorMachine, name: string, ...more: string[]) =>
  machine.run(["endpoint", "create", "--name", name, "--schema", "-", ...more], { input: "{}" });

async function planOfAll(machine: OperatorMachine): Promise<string[]> {
  const listed = await machine.mustRun(["workspace", "list", "--json"]);
  return (listed.json() as { data: { plan: string }[] }).data.map(({ plan }) => plan);
}

test.each([
  [["init", "--email", "ada@example.com"], "ada@example.com"],
  [["init"], "owner@localhost"],
])("%s records the account that it makes", async (args, email) => {
  const machine = operatorMachine();
  await machine.mustRun([...args]);
  const recorded = machine.open().prepare("SELECT action, subject, account_id FROM audit_event").all();
  expect(recorded).toEqual([{ action: "account.create", subject: email, account_id: null }]);
});

test.skipIf(isAtDistance)(
  "init and the first endpoint of a workspace say the plan, its limit and the command that lifts it, on standard error",
  async () => {
    const machine = operatorMachine();
    machine.configure({ plans: { hobby: limited(250) } });
    const told = `hobby, 250 submissions a month; ${HELD}. For 250000: formsvc workspace set-plan business\n`;
    const init = await machine.mustRun(["init"]);
    expect(init.stdout).toBe("");
    expect(init.stderr).toContain(`plan           ${told}`);
    for (const format of [[], ["--env"], ["--json"]]) {
      const one = operatorMachine();
      one.configure({ plans: { hobby: limited(250) } });
      const first = await makeEndpoint(one, "First", ...format);
      expect(first.stderr).toContain(`The plan is ${told}`);
      expect(first.stdout).not.toContain("hobby");
      expect((await makeEndpoint(one, "Second", ...format)).stderr).not.toContain("The plan is");
    }
    expect((await makeEndpoint(machine, "Quiet", "--quiet")).stderr).toBe("");
  },
);

test.skipIf(isAtDistance)("the command that is advised lifts the limit as it stands there", async () => {
  const machine = operatorMachine();
  machine.configure({ plans: { hobby: limited(250), vast: limited(null) } });
  const advised = async (args: string[]): Promise<string[]> => {
    const { stderr } = await machine.run(args, { input: "{}" });
    return (/formsvc (workspace set-plan .*)$/m.exec(stderr)?.[1] ?? "").split(" ");
  };
  const create = ["endpoint", "create", "--name", "A", "--schema", "-"];
  expect(await advised(create)).toEqual(["workspace", "set-plan", "vast"]);
  await machine.mustRun(["workspace", "set-plan", "vast"]);
  expect(await planOfAll(machine)).toEqual(["vast"]);
  await machine.mustRun(["workspace", "create", "--name", "Other"]);
  await machine.mustRun(await advised([...create, "--workspace", "Other"]));
  expect(await planOfAll(machine)).toEqual(["vast", "vast"]);
});

test("if no plan allows more, the setting that does is named, and an unlimited plan is called so", async () => {
  const machine = operatorMachine();
  machine.configure({ plans: { hobby: limited(300_000) } });
  expect((await machine.mustRun(["init"])).stderr).toContain(
    `300000 submissions a month; ${HELD}. For more, raise plans.hobby.monthlySubmissions in the configuration`,
  );
  machine.configure({ plans: { gold: limited(null) } });
  await machine.mustRun(["workspace", "set-plan", "gold"]);
  machine.configure({});
  expect((await machine.mustRun(["init"])).stderr).toContain(
    "plan           gold, which is not configured\n",
  );
  const free = operatorMachine();
  expect((await free.mustRun(["init"])).stderr).toContain("plan           hobby, unlimited submissions\n");
});

test.skipIf(isAtDistance)(
  "every command that makes a workspace puts it on the plan of newWorkspacePlan",
  async () => {
    const commands = [
      ["init"],
      ["init", "--email", "ada@example.org"],
      ["account", "create", "ada@example.org"],
      ["workspace", "create", "--name", "Sites"],
      ["endpoint", "create", "--name", "A", "--schema", "-"],
    ];
    for (const args of commands) {
      const machine = operatorMachine();
      machine.configure({ newWorkspacePlan: "pro" });
      const ran = await machine.run(args, { input: "{}" });
      expect([args, ran.code]).toEqual([args, 0]);
      const plans = await planOfAll(machine);
      expect([args, new Set(plans)]).toEqual([args, new Set(["pro"])]);
    }
  },
);

test("a newWorkspacePlan that is not configured stops every command with exit code 2 and the plans that are", async () => {
  const machine = operatorMachine();
  machine.configure({ newWorkspacePlan: "gold" });
  for (const args of [["init"], ["config", "check"], ["serve"]]) {
    const ran = await machine.run(args, { isRefused: true });
    expect([args, ran.code]).toEqual([args, 2]);
    expect(ran.stderr).toContain("newWorkspacePlan: there is no plan gold; plans has: hobby, pro, business");
  }
});

test("set-plan without a workspace works for the only one, and says what is missing otherwise", async () => {
  const machine = operatorMachine();
  await machine.mustRun(["init"]);
  await machine.mustRun(["workspace", "set-plan", "pro"]);
  expect(await planOfAll(machine)).toEqual(["pro"]);
  expect(await machine.run(["workspace", "set-plan"])).toMatchObject({ code: 2 });
  const unknown = await machine.run(["workspace", "set-plan", "gold"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("there is no plan gold; there are: hobby, pro, business");
  await machine.mustRun(["workspace", "create", "--name", "Other"]);
  const several = await machine.run(["workspace", "set-plan", "business"]);
  expect(several.code).toBe(2);
  expect(several.stderr).toContain("several workspaces");
  await machine.mustRun(["workspace", "set-plan", "Other", "business"]);
  expect(await planOfAll(machine)).toEqual(["pro", "business"]);
});

test("a plan of one endpoint says so in the singular", async () => {
  const machine = operatorMachine();
  machine.configure({ plans: { hobby: { ...limited(null), endpoints: 1 } } });
  await makeEndpoint(machine, "First");
  const second = await makeEndpoint(machine, "Second");
  expect(second.stderr).toMatch(
    /the plan hobby allows 1 endpoint, and the workspace "owner" has it: delete one/,
  );
});
