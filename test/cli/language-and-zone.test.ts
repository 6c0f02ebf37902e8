import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine } from "../support/operator-machine.ts";

const machine = makeMachine();
let workspace = "";

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({});
  const { data } = await machine.json<{ data: { id: string }[] }>(["workspace", "list"]);
  workspace = data[0]?.id ?? "";
});
afterAll(() => machine.remove());

const zone = async (): Promise<unknown> => {
  const shown = await machine.json<{ workspace: { time_zone: unknown } }>(["workspace", "show", workspace]);
  return shown.workspace.time_zone;
};

test("a workspace's time zone is set by its name in any case, and cleared by an empty one", async () => {
  expect(await zone()).toBeNull();
  expect((await machine.mustRun(["workspace", "show", workspace])).stdout).toMatch(/time zone +UTC/);
  await machine.mustRun(["workspace", "set", workspace, "--time-zone", "europe/berlin"]);
  expect(await zone()).toBe("Europe/Berlin");
  await machine.mustRun(["workspace", "set", workspace, "--time-zone", ""]);
  expect(await zone()).toBeNull();
});

test("what is no time zone is refused with an example, and changes nothing", async () => {
  await machine.mustRun(["workspace", "set", workspace, "--time-zone", "Asia/Tokyo"]);
  for (const name of ["Berlin", "+02:00", "CEST!", "Europe/Berlin; DROP", "x".repeat(10_240)]) {
    const refused = await machine.run(["workspace", "set", workspace, "--time-zone", name]);
    expect([refused.code, refused.stdout], name).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/time.zone/);
    expect(refused.stderr.length).toBeLessThan(500);
  }
  expect(await zone()).toBe("Asia/Tokyo");
});

test("a recipient's language is set, cleared, and refused if it is none", async () => {
  const add = ["recipient", "add", "ada@example.org", "--endpoint", "Contact", "--language"];
  expect((await machine.run([...add, "klingon"])).code).toBe(2);
  const made = await machine.json<{ recipient: { id: string; language: unknown } }>([...add, "fr-CA"]);
  expect(made.recipient.language).toBe("fr");
  const set = (language: string) =>
    machine.run(["recipient", "set", made.recipient.id, "--language", language, "--json"]);
  expect(await set("nonsense")).toMatchObject({ code: 2, stdout: "" });
  expect((await set("")).stdout).toContain('"language": null');
});
