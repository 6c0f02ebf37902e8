import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachine, operatorMachine } from "../support/operator-machine.ts";

const machine = makeMachine();
const file = (name: string, text: string): string => machine.write(name, text);

beforeAll(async () => {
  machine.configure({});
  await machine.createEndpoint({});
});
afterAll(() => machine.remove());

interface Shown {
  readonly endpoint: Record<string, unknown>;
}

const set = (...options: string[]) => machine.run(["endpoint", "set", "Contact", ...options]);

async function challenge(): Promise<unknown[]> {
  const { endpoint } = await machine.json<Shown>(["endpoint", "show", "Contact"]);
  return [endpoint["challenge"], endpoint["challenge_required"], endpoint["challenge_site_key"]];
}

async function finding(): Promise<string> {
  const { stdout, stderr } = await machine.run(["doctor"]);
  return `${stdout}${stderr}`.split("\n").find((line) => line.includes("challenge")) ?? "none";
}

test("a challenge is off, is set part by part, and is switched off again", async () => {
  expect(await challenge()).toEqual(["off", "off", null]);
  expect((await machine.mustRun(["endpoint", "show", "Contact"])).stdout).toMatch(/challenge +off/);
  expect(
    await machine.json<Shown>([
      "endpoint",
      "set",
      "Contact",
      "--challenge",
      "pow",
      "--challenge-required",
      "on",
    ]),
  ).toMatchObject({ endpoint: { challenge: "pow", challenge_required: "on" } });
  expect((await machine.mustRun(["endpoint", "show", "Contact"])).stdout).toMatch(/challenge +pow, required/);
  expect((await set("--challenge-site-key", "0x4AAA_b-1", "--challenge", "turnstile")).code).toBe(0);
  expect(await challenge()).toEqual(["turnstile", "on", "0x4AAA_b-1"]);
  expect(
    (await set("--challenge", "off", "--challenge-required", "off", "--challenge-site-key", "")).code,
  ).toBe(0);
  expect(await challenge()).toEqual(["off", "off", null]);
});

test("the secret of a service comes from a file or standard input, is shown by nothing, and doctor tells whether there is one", async () => {
  expect((await set("--challenge", "hcaptcha")).code).toBe(0);
  expect(await finding()).toMatch(/Contact.*no secret is set/);
  const given = await set("--challenge-secret-file", file("secret.txt", "ES_0123456789abcdef\n"));
  expect([given.code, `${given.stdout}${given.stderr}`.includes("ES_0123")]).toEqual([0, false]);
  expect(await finding()).toContain("every challenge of a form is checked");
  for (const asked of [["endpoint", "show", "Contact", "--json"], ["export-config"], ["doctor"]]) {
    const ran = await machine.run(asked);
    expect(`${ran.stdout}${ran.stderr}`).not.toContain("ES_0123");
  }
  expect((await set("--challenge-secret-file", "")).code).toBe(0);
  expect(await finding()).toMatch(/no secret is set/);
  const typed = await machine.run(["endpoint", "set", "Contact", "--challenge-secret-file", "-"], {
    input: "ES_typed\n",
  });
  expect(typed.code).toBe(0);
  expect(await finding()).toContain("every challenge of a form is checked");
});

test("what is no challenge is refused with what it should be, and changes nothing, not even the secret", async () => {
  expect((await set("--challenge", "pow", "--challenge-secret-file", "")).code).toBe(0);
  const before = await challenge();
  const secret = file("good.txt", "ES_good");
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["--page", "on", "--challenge", "hcaptcha", "--challenge-required", "on"],
      /^formsvc: the form's own page cannot show the task of hcaptcha without its site key/,
    ],
    [["--challenge", "captcha"], /off, pow, turnstile, hcaptcha/],
    [["--challenge-required", "yes"], /on, off/],
    [["--challenge-site-key", "a b"], /not a site key/],
    [["--challenge-site-key", "<script>"], /not a site key/],
    [["--challenge-site-key", "x".repeat(10_240)], /not a site key/],
    [["--challenge-site-key", "a b", "--challenge-secret-file", secret], /not a site key/],
    [["--challenge-secret-file", machine.path("missing.txt")], /cannot be read/],
    [["--challenge-secret-file", machine.folder], /cannot be read/],
    [["--challenge-secret-file", file("empty.txt", "\n \n")], /expected the secret in one line/],
    [["--challenge-secret-file", file("two.txt", "one\ntwo\n")], /expected the secret in one line.*2 lines/],
    [["--challenge-secret-file", file("odd.txt", "geheim\u00fc")], /1 to 200 visible ASCII/],
    [["--challenge-secret-file", file("long.txt", "x".repeat(201)), "--challenge", "off"], /1 to 200/],
  ];
  for (const [options, told] of wrong) {
    const ran = await set(...options);
    expect([ran.code, ran.stdout], options.join(" ").slice(0, 60)).toEqual([2, ""]);
    expect(ran.stderr).toMatch(told);
    expect(ran.stderr.length).toBeLessThan(600);
  }
  expect(await challenge()).toEqual(before);
  expect((await set("--challenge", "hcaptcha")).code).toBe(0);
  expect(await finding()).toMatch(/no secret is set/);
});

test("the secret is in the clear in the database until a key file seals it, then in no file", async () => {
  const SECRET = "ES_only_without_a_key_file";
  const here = operatorMachine();
  await here.createEndpoint({});
  const path = here.write("secret.txt", SECRET);
  await here.mustRun([
    "endpoint",
    "set",
    "Contact",
    "--challenge",
    "turnstile",
    "--challenge-secret-file",
    path,
  ]);
  const holdsPlain = async (copy: string): Promise<boolean> => {
    await here.mustRun(["backup", copy]);
    return readFileSync(here.path(copy)).includes(SECRET);
  };
  expect(await holdsPlain("plain.db")).toBe(true);
  here.configure({ secrets: { keyFile: "./secrets.key" } });
  await here.mustRun(["secrets", "rotate"]);
  expect(await holdsPlain("sealed.db")).toBe(false);
});
