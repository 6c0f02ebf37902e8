import { expect, test } from "vitest";
import { checkFile } from "../../src/apply/check-file.ts";
import { parseFile } from "../../src/apply/file-text.ts";
import { planFile } from "../../src/apply/plan-file.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { KEEPS_ALL, performerOn } from "../support/forms-world.ts";

const contact = (members: object) => ({
  version: 1,
  workspaces: [{ name: "A", endpoints: [{ name: "F", schema: { email: { type: "string" } }, ...members }] }],
});

test.each([
  ["{", /^forms\.yaml:1: not valid JSON \(column 2: Expected property name or '}'\)$/],
  [`workspaces: ${"[".repeat(20_000)}`, /^forms\.yaml: nested too deep to be read: .*not closed$/],
  [`version: 1\nworkspaces: ${"[".repeat(1000)}${"]".repeat(1000)}`, /^forms\.yaml: nested too deep/],
  ["version: 1\nworkspaces: [\n", /forms\.yaml:\d+: not valid YAML/],
  ["version: 1\nversion: 1\nworkspaces: []\n", /^forms\.yaml:2: the member version is there twice$/],
  ["version: 1\nworkspaces:\n\t- x\n", /^forms\.yaml:3: not valid YAML \(column 1: Tabs are not allowed/],
  [
    "version: 1\nworkspaces: []\n---\nversion: 1\n",
    /^forms\.yaml:3: not valid YAML \(column 1: a second document begins here, and a file has one\)$/,
  ],
  [
    "version: !a 1\nworkspaces: []\n",
    /^forms\.yaml:1: not valid YAML \(column 10: tags like !name are not understood; leave it out\)$/,
  ],
  [
    "version: 1\nworkspaces: *no\u202epe\n",
    /^forms\.yaml:2: not valid YAML \(column 13: no anchor is named nope above\)$/,
  ],
  [
    "version: 1\nworkspaces: *later\nx: &later []\n",
    /^forms\.yaml:2: not valid YAML \(column 13: no anchor is named later above\)$/,
  ],
  [
    `a: &a 1\nb:\n${"- *a\n".repeat(1001)}`,
    /^forms\.yaml:1003: not valid YAML \(column 3: there are more than 1000 aliases\)$/,
  ],
  [
    `version: |\u001b[31m${"x".repeat(500)}\n a\n`,
    /^forms\.yaml:1: not valid YAML \(column \d+: Block scalar header [^\u001b]{1,190}\)$/,
  ],
  [
    '{"version": 1, "workspaces": [{"name": "A", "endpoints": []},\n{"name": "B", "n\\u0061me" : "C"}]}',
    /^forms\.yaml:2: the member name is there twice$/,
  ],
  [
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c]\n",
    /not valid YAML: its aliases stand for too much; write out what they stand for$/,
  ],
  ["version: 2\nworkspaces: []\n", /forms\.yaml:1: version: expected 1, the only version there is/],
  ["version: 1\n", /workspaces: /],
  ["# nothing\n", /^forms\.yaml: there is nothing in it; it needs version: 1 and workspaces$/],
  [
    "version: 1\nworkspaces:\n  - name: A\n    endpoints:\n      - name: F\n        color: red\n        schema: {}\n",
    /forms\.yaml:6: workspaces\.0\.endpoints\.0\.color: there is no such member/,
  ],
  [
    { version: 1, workspaces: [{ name: "A", time_zone: "Berlin" }] },
    /workspaces\.0\.time_zone: not a time zone: "Berlin"/,
  ],
  [
    contact({ recipients: [{ address: "ada@example.org", language: "klingon" }] }),
    /recipients\.0\.language: not a language that is spoken here: "klingon"/,
  ],
  [contact({ keep_days: 0 }), /workspaces\.0\.endpoints\.0\.keep_days: expected 1 to 36500 days/],
  [contact({ schema: { email: { type: "text" } } }), /workspaces\.0\.endpoints\.0\.schema\.email\.type/],
  [
    contact({
      webhooks: [{ url: "https://192.0.2.1/a", headers: JSON.parse('{"__proto__": "x"}') as object }],
    }),
    /webhooks\.0\.headers: the name __proto__ cannot be used/,
  ],
  [contact({ webhooks: [{ url: "ftp://x" }] }), /webhooks\.0\.url: the webhook's URL must begin with https/],
  [
    contact({ webhooks: [{ url: { env: "NOT_SET_HERE" } }] }),
    /the environment variable NOT_SET_HERE is not set/,
  ],
  [
    contact({ webhooks: [{ url: "https://192.0.2.1/a" }, { url: "https://192.0.2.1/a#b" }] }),
    /webhooks\.1: is the same webhook as number 0/,
  ],
  [
    contact({ recipients: [{ address: "a@example.com" }, { address: "a@EXAMPLE.com" }] }),
    /recipients\.1: is the same recipient/,
  ],
  [contact({ recipients: [{ address: "nobody" }] }), /recipients\.0\.address: "nobody" is not an address/],
  [contact({ autoreply: { field: "email" } }), /autoreply\.field: is not a field of format email/],
  [contact({ was: "F" }), /was: names an endpoint that the file has too/],
  [
    { version: 1, workspaces: [{ name: "A" }, { name: " A " }] },
    /workspaces\.1: is the same workspace as number 0/,
  ],
])("%j is refused with what is wrong and in which place", async (content, message) => {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const perform = performerOn(temporaryDatabase());
  const plan = async () =>
    planFile(perform, checkFile(await parseFile(text, "forms.yaml"), "forms.yaml", {}), KEEPS_ALL);
  await expect(plan()).rejects.toMatchObject({
    code: "usage",
    message: expect.stringMatching(message) as string,
  });
});

test("a file of the largest size with a name in each line is refused in seconds", async () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `k${index}: 1`).join("\n");
  const before = process.cpuUsage();
  const parsed = await parseFile(`${names}\nversion: 1\nworkspaces: []\n`, "forms.yaml");
  expect(() => checkFile(parsed, "forms.yaml", {})).toThrow(/^forms\.yaml:1: k0: there is no such member/);
  const { user, system } = process.cpuUsage(before);
  // 50,000 names took 30 s when each was compared with all before it.
  expect((user + system) / 1_000_000).toBeLessThan(30);
});
