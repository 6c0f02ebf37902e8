import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine } from "../support/operator-machine.ts";
import { readMail } from "../support/read-mail.ts";
import { plainSettings, startMailServer } from "../support/smtp-servers.ts";

const machine = makeMachine();
let workspace = "";

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({});
  const { data } = await machine.json<{ data: { id: string }[] }>(["workspace", "list"]);
  workspace = data[0]?.id ?? "";
});
afterAll(() => machine.remove());

const set = (...flags: string[]) => machine.run(["workspace", "set", workspace, ...flags]);

async function brand(): Promise<unknown> {
  const shown = await machine.json<{ workspace: Record<string, unknown> }>(["workspace", "show", workspace]);
  const { brand_colour: colour, brand_name: name, brand_footer: footer, time_zone: zone } = shown.workspace;
  return { colour, name, footer, zone };
}

test("colour, name, footer and zone are set one by one, and an empty text takes each away", async () => {
  await set("--time-zone", "Europe/Berlin", "--brand-name", "Mia’s Bakery");
  await set("--brand-colour", "#7A3B12");
  await set("--brand-footer", "Mia Berg\nHauptstr. 1");
  const whole = { colour: "#7a3b12", name: "Mia’s Bakery", footer: "Mia Berg\nHauptstr. 1" };
  expect(await brand()).toEqual({ ...whole, zone: "Europe/Berlin" });
  expect((await machine.mustRun(["workspace", "show", workspace])).stdout).toMatch(
    /colour for visitors +#7a3b12/,
  );
  await set("--brand-name", "", "--brand-footer", "");
  expect(await brand()).toEqual({ colour: "#7a3b12", name: null, footer: null, zone: "Europe/Berlin" });
});

test("what is no colour or no plain text is refused by name, and changes nothing, whatever else is right", async () => {
  const before = await brand();
  for (const [flag, value, complaint] of [
    ["--brand-colour", "url(https://evil.example/x)", "not a colour"],
    ["--brand-colour", "#fff", "write it like #0b6e5f"],
    ["--brand-colour", "x".repeat(10_240), "not a colour"],
    ["--brand-name", "x".repeat(10_240), "longer than 200 bytes"],
    ["--brand-name", "a\u202eb", "turns the direction"],
    ["--brand-footer", "x".repeat(1001), "longer than 1000 bytes"],
  ] as const) {
    const refused = await set("--time-zone", "Asia/Tokyo", flag, value);
    expect([refused.code, refused.stdout], `${flag} ${value.slice(0, 20)}`).toEqual([2, ""]);
    expect(refused.stderr).toContain(complaint);
    expect(refused.stderr.length).toBeLessThan(500);
  }
  expect((await set()).code).toBe(2);
  expect(await brand()).toEqual(before);
});

test("mail test shows how the e-mails of an endpoint look", async () => {
  const server = await startMailServer();
  const { host, port, from } = plainSettings(server.port);
  machine.configure({ mail: { host, port, from } });
  await set("--brand-name", "Mia’s Bakery", "--brand-colour", "#7a3b12", "--brand-footer", "Hauptstr. 1");
  await machine.mustRun(["mail", "test", "ada@example.org", "--endpoint", "Contact"]);
  const { html, text } = readMail(server.received[0]?.raw ?? Buffer.alloc(0));
  expect(text).toMatch(/^Mia’s Bakery\n[^]*\nHauptstr\. 1\n*$/);
  expect(html).toContain("border-top:6px solid #7a3b12");
});
