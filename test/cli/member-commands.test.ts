import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";

interface Invited {
  readonly invitation: { readonly id: string; readonly email: string; readonly expires_at: string };
  readonly url: string;
}

test("somebody is invited, listed, invited anew and the invitation withdrawn by commands", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  const workspace = String(machine.open().prepare("SELECT id FROM workspace").pluck().get());
  const of = ["--workspace", workspace];
  const asked = ["member", "invite", "kim@example.org", ...of, "--role", "reader"];
  const made = await machine.json<Invited>([...asked, "--endpoint", id, "--no-export", "--no-spam-details"]);
  expect(made).toEqual({
    invitation: {
      id: expect.stringMatching(/^inv_/) as string,
      email: "kim@example.org",
      workspace_id: workspace,
      role: "reader",
      endpoints: [id],
      export: false,
      spam_details: false,
      expires_at: expect.any(String) as string,
    },
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/dashboard\/invitation#[\w-]{32}$/) as string,
  });
  const bound = await machine.mustRun(["member", "list", ...of]);
  expect(bound.stdout).toMatch(
    /kim@example\.org +reader +invited +Contact, without export and spam details /,
  );
  const again = await machine.mustRun(asked);
  expect(again.stdout).toMatch(/\/dashboard\/invitation#[\w-]{32}\n$/);
  expect(again.stderr).toContain(
    "kim@example.org is invited as reader: hand the link over (where e-mail is set up, a letter brings one too); good once",
  );
  const { data } = await machine.json<{ data: object[] }>(["member", "list", ...of]);
  expect(data).toMatchObject([
    { role: "owner", state: "member" },
    {
      account_id: null,
      email: "kim@example.org",
      role: "reader",
      endpoints: null,
      state: "invited",
      by: null,
    },
  ]);
  const removed = await machine.mustRun(["member", "remove", "kim@example.org", ...of, "--yes"]);
  expect(removed.stderr).toContain("the invitation of kim@example.org is withdrawn");
  expect((await machine.run(["member", "remove", "kim@example.org", ...of, "--yes"])).code).toBe(3);
});

test("an invitation that is typed wrongly is refused with its reason and exit code", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const workspace = String(machine.open().prepare("SELECT name FROM workspace").pluck().get());
  const of = ["--workspace", workspace];
  for (const [args, code, words] of [
    [["kim@example.org", "--role", "reader"], 2, "--workspace"],
    [["kim@example.org", ...of], 2, "--role"],
    [["kim@example.org", ...of, "--role", "king"], 2, "owner"],
    [["kim", ...of, "--role", "reader"], 2, "kim"],
    [["kim@example.org", "--workspace", "nothing", "--role", "reader"], 3, "nothing"],
    [["kim@example.org", ...of, "--role", "owner", "--endpoint", "Contact"], 2, "an owner sees every form"],
    [["kim@example.org", ...of, "--role", "editor", "--no-export"], 2, "for readers only"],
  ] as const) {
    const refused = await machine.run(["member", "invite", ...args]);
    expect([refused.code, refused.stderr.includes(words)], refused.stderr).toEqual([code, true]);
  }
  expect(machine.open().prepare("SELECT count(*) FROM invitation").pluck().get()).toBe(0);
});
