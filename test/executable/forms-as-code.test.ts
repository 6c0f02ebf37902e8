import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";

const FILE = `version: 1
workspaces:
  - name: Client A
    endpoints:
      - { name: Contact, schema: { email: { type: string, format: email } } }
      - { name: News, schema: { email: { type: string } } }
      - { name: Jobs, schema: { name: { type: string } } }
`;

test("the executable applies a file in YAML with three forms, takes a post with a key that it printed, and exports YAML", async () => {
  const machine = operatorMachine();
  machine.write("forms.yaml", FILE);
  const { stdout } = await machine.mustRun(["apply", "forms.yaml", "--env"]);
  const [, key = ""] = /^FORM_CONTACT_SECRET_KEY=(\S+)$/m.exec(stdout) ?? [];
  const server = await machine.serve();
  const posted = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com" }),
  });
  expect(posted.status).toBe(200);
  expect((await machine.mustRun(["apply", "forms.yaml"])).stderr).toContain("nothing to change");
  const exported = await machine.mustRun(["export-config"]);
  expect(exported.stdout).toMatch(/^version: 1\nworkspaces:\n {2}- name: Client A\n/);
});
