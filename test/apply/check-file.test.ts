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
  ["version: 1\nversion: 1\nworkspaces: []\n", /forms\.yaml:2: not valid YAML: Map keys must be unique/],
  [
    '{"version": 1, "workspaces": [{"name": "A", "endpoints": []},\n{"name": "B", "n\\u0061me" : "C"}]}',
    /^forms\.yaml:2: the member name is there twice$/,
  ],
  [
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c]\n",
    /not valid YAML: Excessive alias count/,
  ],
  ["version: 2\nworkspaces: []\n", /forms\.yaml:1: version: expected 1, the only version there is/],
  ["version: 1\n", /workspaces: /],
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
