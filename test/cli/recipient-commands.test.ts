import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine } from "../support/operator-machine.ts";

interface ShownRecipient {
  readonly recipient: { readonly id: string; readonly address: string };
}

const machine = makeMachine();

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({ schema: { name: { type: "string" } } });
});

afterAll(() => machine.remove());

function add(address: string, ...options: string[]): Promise<ShownRecipient> {
  return machine.json(["recipient", "add", address, "--endpoint", "Contact", ...options]);
}

test("a recipient is added, listed, shown, changed, switched and removed", async () => {
  const { recipient } = await add("ada@example.com", "--digest", "hourly", "--subject", "{endpoint}: {name}");
  expect(recipient).toMatchObject({
    id: expect.stringMatching(/^rcpt_[0-9a-z]{26}$/) as string,
    address: "ada@example.com",
    state: "enabled",
    digest: "hourly",
    subject: "{endpoint}: {name}",
    max_spam_score: 50,
    confirmed_at: expect.stringMatching(/Z$/) as string,
  });
  const { id } = recipient;
  expect(await machine.json(["recipient", "list", "--endpoint", "Contact"])).toEqual({ data: [recipient] });
  expect(await machine.json(["recipient", "show", id])).toEqual({ recipient });
  const set = ["recipient", "set", id, "--digest", "daily", "--max-spam-score", "20", "--clear-subject"];
  expect(await machine.json(set)).toMatchObject({
    recipient: { digest: "daily", max_spam_score: 20, subject: null, address: "ada@example.com" },
  });
  for (const [flag, attach] of [
    ["--attach", true],
    ["--max-spam-score=30", true],
    ["--no-attach", false],
  ] as const)
    expect(await machine.json(["recipient", "set", id, flag])).toMatchObject({ recipient: { attach } });
  expect(await machine.json(["recipient", "disable", id])).toMatchObject({ recipient: { enabled: false } });
  expect(await machine.json(["recipient", "enable", id])).toMatchObject({ recipient: { enabled: true } });
  expect((await machine.run(["recipient", "remove", id])).code).toBe(2);
  expect(await machine.json(["recipient", "remove", id, "--yes"])).toEqual({ deleted: [id] });
  expect((await machine.run(["recipient", "show", id])).code).toBe(3);
});

test("recipients are created and deleted with the verbs of webhooks too, which help and completion leave out", async () => {
  const create = ["recipient", "create", "verbs@example.com", "--endpoint", "Contact"];
  const { recipient } = await machine.json<ShownRecipient>(create);
  expect(recipient.address).toBe("verbs@example.com");
  expect((await machine.run(["recipient", "delete", recipient.id])).stderr).toContain("--yes");
  expect(await machine.json(["recipient", "delete", recipient.id, "--yes"])).toEqual({
    deleted: [recipient.id],
  });
  expect((await machine.mustRun(["recipient", "--help"])).stdout).not.toMatch(/^ {2}(?:create|delete)/m);
  expect((await machine.mustRun(["recipient", "create", "--help"])).stdout).toContain("recipient add");
  expect((await machine.run(["webhook", "add"])).code).toBe(2);
});

test("people read what a recipient is and that no mail server is set, and scripts read the id alone", async () => {
  const added = await machine.run(["recipient", "add", "bob@example.com", "--endpoint", "Contact"]);
  const id = added.stdout.trim();
  expect(id).toMatch(/^rcpt_/);
  expect(added.stderr).toContain("mail.host");
  const { stdout } = await machine.run(["recipient", "show", id]);
  for (const word of ["bob@example.com", "enabled", "each", "built in", "50"]) expect(stdout).toContain(word);
  expect((await machine.run(["recipient", "list"])).stdout).toContain("bob@example.com");
});

test("bad input is refused with exit code 2, what is not there with 3, what is there already with 1", async () => {
  await add("once@example.com");
  const to = (address: string, ...rest: string[]) => ["add", address, "--endpoint", "Contact", ...rest];
  const cases: [args: string[], code: number][] = [
    [to("once@example.com"), 1],
    [to("Ada <ada@example.com>"), 2],
    [to("a@example.com", "--max-spam-score", "101"), 2],
    [to("a@example.com", "--digest", "weekly"), 2],
    [to("a@example.com", "--subject", ""), 2],
    [["add", "a@example.com"], 2],
    [["add", "a@example.com", "--endpoint", "Nobody"], 3],
    [["show", "rcpt_none"], 3],
    [["enable", "rcpt_none"], 3],
    [["set", "rcpt_none", "--digest", "each"], 3],
    [["set", "rcpt_none"], 2],
    [["set", "rcpt_none", "--subject", "a", "--clear-subject"], 2],
    [["remove", "rcpt_none", "--yes"], 3],
  ];
  await Promise.all(
    cases.map(async ([args, code]) => {
      const result = await machine.run(["recipient", ...args]);
      expect(result.code, `${args.join(" ")}: ${result.stderr}`).toBe(code);
      expect(result.stderr).not.toBe("");
    }),
  );
});
