import { afterAll, beforeAll, expect, test } from "vitest";
import { isAtDistance } from "../support/distance.ts";
import { makeMachine } from "../support/operator-machine.ts";

const machine = makeMachine();

beforeAll(async () => {
  machine.configure({});
  const email = { type: "string", format: "email" } as const;
  await machine.createEndpoint({ schema: { name: { type: "string" }, email } });
  await machine.createEndpoint({ name: "Two", schema: { email, friend: email } });
  await machine.createEndpoint({ name: "None", schema: { email: { type: "string" } } });
});

afterAll(() => machine.remove());

interface Shown {
  readonly auto_reply: { readonly recipient_id: string; readonly endpoint_id: string };
}

const show = (endpoint = "Contact") => machine.json<Shown>(["autoreply", "show", endpoint]);

test.skipIf(isAtDistance)(
  "an automatic reply is off, is turned on with its words, shown, changed and turned off; the words stay",
  async () => {
    expect(await show()).toMatchObject({ auto_reply: { state: "off", recipient_id: null, field: null } });
    const text = machine.write("reply.txt", "\uFEFFThank you.\r\n\r\nAda\r\n");
    const given = ["--text-file", text, "--subject", "{endpoint}: {reference}"];
    const { auto_reply: made } = await machine.json<Shown>(["autoreply", "set", "Contact", ...given]);
    expect(made).toEqual({
      endpoint_id: expect.stringMatching(/^ep_/) as string,
      recipient_id: expect.stringMatching(/^rcpt_/) as string,
      state: "on",
      field: "email",
      subject: "{endpoint}: {reference}",
      text: "Thank you.\n\nAda",
      reply_to: null,
      on_since: expect.stringMatching(/Z$/) as string,
      last_sent_at: null,
      limit_reached: null,
    });
    expect(await show()).toEqual({ auto_reply: made });
    await machine.mustRun(["recipient", "add", "ada@example.com", "--endpoint", "Contact"]);
    const change = ["autoreply", "set", "Contact", "--reply-to", "Ada@Example.com", "--clear-subject"];
    expect(await machine.json(change)).toEqual({
      auto_reply: { ...made, subject: null, reply_to: "ada@example.com" },
    });
    expect(await machine.json(["autoreply", "off", "Contact"])).toMatchObject({
      auto_reply: { state: "off", text: "Thank you.\n\nAda", reply_to: "ada@example.com", on_since: null },
    });
    expect(await machine.json(["autoreply", "off", "Contact"])).toMatchObject({
      auto_reply: { state: "off" },
    });
    expect(await machine.json(["autoreply", "set", "Contact", "--clear-reply-to"])).toMatchObject({
      auto_reply: { state: "on", text: "Thank you.\n\nAda", reply_to: null, recipient_id: made.recipient_id },
    });
  },
);

test.skipIf(isAtDistance)(
  "people read what it is, and are told that no mail server is set and that any page may post",
  async () => {
    const set = await machine.run(["autoreply", "set", "Two", "--field", "email"]);
    expect(set.code).toBe(0);
    for (const word of ["mail.host", "--allow-origin"]) expect(set.stderr).toContain(word);
    for (const word of ["on since", "email", "built in", "mail.from"]) expect(set.stdout).toContain(word);
    expect((await machine.run(["autoreply", "show", "None"])).stdout).toContain("off");
  },
);

test("help says what backscatter is and what bounds it", async () => {
  const help = (await machine.mustRun(["autoreply", "set", "--help"])).stdout;
  for (const word of ["backscatter", "nothing that was submitted", "24 hours", "never a second time"])
    expect(help.replaceAll(/\s+/g, " ")).toContain(word);
});

test("bad input is refused with a sentence that says what to do, and changes nothing", async () => {
  machine.write("reply.txt", "Thank you.");
  const cases: [args: string[], code: number, message: RegExp][] = [
    [["set", "Nobody"], 3, /there is no endpoint Nobody/],
    [["show", "Nobody"], 3, /there is no endpoint Nobody/],
    [["off", "Nobody"], 3, /there is no endpoint Nobody/],
    [["set", "None"], 2, /None has no field of format email/],
    [
      ["set", "Two", "--field", "name"],
      2,
      /"name" is not a field of format email; Two has: "email", "friend"/,
    ],
    [
      ["set", "Contact", "--text", "Dear {name}"],
      2,
      /cannot have \{name\}.*\{endpoint\}, \{reference\}, \{time\}/,
    ],
    [["set", "Contact", "--subject", "{email}"], 2, /cannot have \{email\}/],
    [["set", "Contact", "--subject", ""], 2, /1 to 200 characters/],
    [["set", "Contact", "--subject", "a\nb"], 2, /one line/],
    [["set", "Contact", "--text", " \n "], 2, /1 to 4000 characters; this one has 0/],
    [["set", "Contact", "--text", "x".repeat(4001)], 2, /this one has 4001/],
    [["set", "Contact", "--text", "a", "--text-file", "b"], 2, /--text or --text-file, not both/],
    [["set", "Contact", "--text", "reply.txt"], 2, /give --text-file reply\.txt/],
    [["set", "Contact", "--text", "-"], 2, /standard input: give --text-file -/],
    [["set", "Contact", "--text", "a", "--clear-text"], 2, /--text or --clear-text, not both/],
    [
      ["set", "Contact", "--reply-to", "a@b.example", "--clear-reply-to"],
      2,
      /--reply-to or --clear-reply-to/,
    ],
    [["set", "Contact", "--reply-to", "eve@example.net"], 3, /eve@example.net is no recipient of Contact/],
    [["set", "Contact", "--text-file", "missing.txt"], 2, /missing.txt: cannot be read/],
  ];
  const before = await show();
  for (const [args, code, message] of cases) {
    const ran = await machine.run(["autoreply", ...args]);
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code, stdout: "" });
    expect(ran.stderr).toMatch(message);
  }
  expect(await show()).toEqual(before);
});

test("several fields for an address are named, and one of them is to be chosen", async () => {
  const email = { type: "string", format: "email" } as const;
  const { id } = await machine.createEndpoint({ name: "Several", schema: { email, friend: email } });
  const ran = await machine.run(["autoreply", "set", id]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/several fields could have the address of the reply: "email", "friend"/);
});
