import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine } from "../support/operator-machine.ts";

const machine = makeMachine();

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({});
});
afterAll(() => machine.remove());

const language = async (endpoint = "Contact"): Promise<unknown> => {
  const shown = await machine.json<{ endpoint: { language: unknown } }>(["endpoint", "show", endpoint]);
  return shown.endpoint.language;
};
const create = (name: string, tag: string) => {
  const schema = machine.write("schema.json", { name: { type: "string" } });
  return machine.run(["endpoint", "create", "--name", name, "--schema", schema, "--language", tag]);
};

test("an endpoint's language is set by its tag and cleared by an empty one, and people read whose it is", async () => {
  expect(await language()).toBeNull();
  expect((await machine.mustRun(["endpoint", "show", "Contact"])).stdout).toMatch(/language +the visitor's/);
  expect(await machine.json(["endpoint", "set", "Contact", "--language", "de-AT"])).toMatchObject({
    endpoint: { language: "de" },
  });
  // What is not named stays.
  await machine.mustRun(["endpoint", "set", "Contact", "--keep-days", "7"]);
  expect(await language()).toBe("de");
  await machine.mustRun(["endpoint", "set", "Contact", "--language", ""]);
  expect(await language()).toBeNull();
});

test("an endpoint has the language from the start that it is made with", async () => {
  expect((await create("Kontakt", "de-AT")).code).toBe(0);
  expect((await create("Plain", "")).code).toBe(0);
  expect([await language("Kontakt"), await language("Plain")]).toEqual(["de", null]);
});

test("a tag of no language that visitors are spoken to in is refused with those there are, and changes nothing", async () => {
  await machine.mustRun(["endpoint", "set", "Contact", "--language", "fr"]);
  const { stdout: before } = await machine.mustRun(["endpoint", "list"]);
  for (const tag of ["nonsense", "tlh", "de_DE", " ", "x".repeat(10_240)]) {
    const refused = await machine.run(["endpoint", "set", "Contact", "--language", tag, "--keep-days", "9"]);
    expect([refused.code, refused.stdout], tag).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/not a language that is spoken here: .*choose from ar, cs, .*, zh/);
    expect(refused.stderr.length).toBeLessThan(400);
    expect(await create("Refused", tag)).toMatchObject({ code: 2, stdout: "", stderr: refused.stderr });
  }
  const shown = await machine.json(["endpoint", "show", "Contact"]);
  expect(shown).toMatchObject({ endpoint: { language: "fr" } });
  expect((await machine.mustRun(["endpoint", "list"])).stdout).toBe(before);
});
