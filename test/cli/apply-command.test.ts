import { once } from "node:events";
import { expect, test } from "vitest";
import { whenEnded } from "../support/program.ts";
import { operatorMachine } from "../support/operator-machine.ts";

const FILE = `version: 1
workspaces:
  - name: Client A
    endpoints:
      - name: Contact
        keep_days: 90
        schema:
          email: &email { type: string, required: true, format: email }
          message: { type: string }
        recipients:
          - address: office@example.com
      - name: News & more
        schema: { email: *email }
  - name: Client B
    endpoints:
      - name: Contact
        schema: { email: { type: string } }
        webhooks:
          - { url: "http://127.0.0.1:9/crm", allow_private: true }
`;

interface Applied {
  readonly changes: readonly { verb: string; kind: string; name: string; done: boolean }[];
  readonly kept: readonly string[];
  readonly notes: readonly string[];
  readonly keys: readonly { endpoint: string; endpoint_id: string; secret: string; publishable: string }[];
  readonly secrets: readonly { webhook_id: string; secret: string }[];
}

test("a file makes three forms, prints their keys for eval, and changes nothing when it is applied again", async () => {
  const machine = operatorMachine();
  machine.write("forms.yaml", FILE);
  const dry = await machine.run(["apply", "forms.yaml", "--dry-run"]);
  expect([dry.code, dry.stderr]).toEqual([5, expect.stringContaining("there is no database")]);
  const refused = await machine.run(["apply", "forms.yaml"]);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(/give --env or --json.*nothing was changed/);
  expect((await machine.run(["apply", "forms.yaml", "--dry-run"])).stderr).toContain("there is no database");
  const applied = await machine.mustRun(["apply", "forms.yaml", "--env"]);
  const lines = applied.stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.replace(/=.*/, "").replace(/WH_\w{26}/, "WH"))).toEqual([
    "FORM_CLIENT_A__CONTACT_ENDPOINT_ID",
    "FORM_CLIENT_A__CONTACT_SECRET_KEY",
    "FORM_CLIENT_A__CONTACT_PUBLISHABLE_KEY",
    "FORM_NEWS_MORE_ENDPOINT_ID",
    "FORM_NEWS_MORE_SECRET_KEY",
    "FORM_NEWS_MORE_PUBLISHABLE_KEY",
    "FORM_CLIENT_B__CONTACT_ENDPOINT_ID",
    "FORM_CLIENT_B__CONTACT_SECRET_KEY",
    "FORM_CLIENT_B__CONTACT_PUBLISHABLE_KEY",
    "FORM_CLIENT_B__CONTACT_WH_SECRET",
  ]);
  expect(lines.every((line) => /^[A-Z0-9_]+=[A-Za-z0-9_+/=]+$/.test(line))).toBe(true);
  expect(applied.stderr).toContain("+ recipient Client A/Contact office@example.com");
  const again = await machine.mustRun(["apply", "forms.yaml"]);
  expect([again.stdout, again.stderr]).toEqual(["", "nothing to change: everything is as the file says\n"]);
  expect((await machine.mustRun(["apply", "forms.yaml", "--env"])).stderr).toContain("formsvc key rotate");
  const { data } = await machine.json<{ data: { name: string }[] }>(["workspace", "list"]);
  expect(data.map(({ name }) => name)).toEqual(["Client A", "Client B"]);
});

test("a dry run prints the diff and changes nothing; what is exported applies from standard input", async () => {
  const machine = operatorMachine();
  machine.write("forms.yaml", FILE);
  const made = await machine.json<Applied>(["apply", "forms.yaml"]);
  expect(made.keys.map(({ endpoint }) => endpoint)).toEqual(["Contact", "News & more", "Contact"]);
  expect(made.secrets).toEqual([
    expect.objectContaining({ secret: expect.stringMatching(/^whsec_/) as string }),
  ]);
  expect(made.changes.every(({ done }) => done)).toBe(true);
  machine.write("changed.yaml", FILE.replace("keep_days: 90", "keep_days: 30"));
  const dry = await machine.mustRun(["apply", "changed.yaml", "--dry-run"]);
  expect(dry.stdout).toBe("~ endpoint Client A/Contact\n    keep_days: 90 → 30\n");
  expect(dry.stderr).toBe("1 change would be made\n");
  const { stdout } = await machine.mustRun(["export-config"]);
  expect(stdout).toContain("keep_days: 90");
  const other = operatorMachine();
  const applied = (await other.mustRun(["apply", "-", "--json"], { input: stdout })).json() as Applied;
  expect(applied.keys).toHaveLength(3);
  expect((await other.mustRun(["export-config"])).stdout).toBe(stdout);
  expect(await other.json(["export-config"])).toMatchObject({
    version: 1,
    workspaces: [{ name: "Client A" }, {}],
  });
});

test("a run that is killed when its first keys came out is finished by the next, which tells how to replace keys", async () => {
  const machine = operatorMachine();
  machine.write("forms.yaml", FILE);
  const child = machine.start(["apply", "forms.yaml", "--env"]);
  await once(child.stdout!, "data");
  child.kill("SIGKILL");
  await whenEnded(child);
  const second = await machine.mustRun(["apply", "forms.yaml", "--env"]);
  expect(second.stdout).not.toContain("FORM_CLIENT_A__CONTACT_SECRET_KEY");
  expect(second.stderr).toContain("formsvc key rotate");
  expect((await machine.mustRun(["apply", "forms.yaml"])).stderr).toContain("nothing to change");
  const whole = operatorMachine();
  await whole.mustRun(["apply", "-", "--env"], { input: FILE });
  const exported = async (each: typeof machine) => (await each.mustRun(["export-config"])).stdout;
  expect(await exported(machine)).toBe(await exported(whole));
});

test("pruning deletes what the file does not name, and an endpoint with posts only by its name", async () => {
  const machine = operatorMachine();
  machine.write("forms.yaml", FILE);
  const { keys } = await machine.json<Applied>(["apply", "forms.yaml"]);
  await machine.mustRun(["workspace", "create", "--name", "Elsewhere"]);
  await machine.createEndpoint({ name: "Untouched", workspace: "Elsewhere" });
  const server = await machine.serveHere();
  const [contact] = keys;
  const posted = await fetch(`${server.url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${contact?.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com", message: "hello" }),
  });
  expect(posted.status).toBe(200);
  await server.stop();
  const empty = { version: 1, workspaces: [{ name: "Client A" }, { name: "Client B" }] };
  machine.write("empty.json", empty);
  const kept = await machine.json<Applied>(["apply", "empty.json", "--prune"]);
  expect(kept.changes.map(({ name }) => name)).toEqual(["Client A/News & more", "Client B/Contact"]);
  expect(kept.kept).toEqual(["endpoint Client A/Contact: it has submissions or held posts"]);
  const { data } = await machine.json<{ data: { name: string }[] }>(["endpoint", "list"]);
  expect(data.map(({ name }) => name)).toEqual(["Contact", "Untouched"]);
  const alone = await machine.run(["apply", "empty.json", "--prune-submissions", "Contact"]);
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("needs --prune")]);
  const named = ["apply", "empty.json", "--prune", "--prune-submissions", "Client A/Contact"];
  expect((await machine.mustRun(named)).stdout).toContain("- endpoint Client A/Contact");
  expect((await machine.mustRun(named)).stderr).toContain("there is no endpoint Client A/Contact to delete");
  expect((await machine.json<{ data: object[] }>(["submission", "list"])).data).toEqual([]);
});

test("a refusal in the middle keeps what was done, names it, and prints the keys that were made", async () => {
  const machine = operatorMachine({
    plans: { hobby: { monthlySubmissions: null, endpoints: 2, customSpam: true } },
  });
  machine.write(
    "forms.yaml",
    FILE.replace(/ {2}- name: Client B\n {4}endpoints:\n {6}- name: Contact/, "      - name: Third"),
  );
  const ran = await machine.run(["apply", "forms.yaml", "--json"]);
  expect(ran.code).toBe(4);
  expect(ran.stderr).toContain("plan_limit");
  const report = ran.json() as Applied;
  expect(report.keys).toHaveLength(2);
  expect(report.changes.map(({ kind, name, done }) => `${kind} ${name} ${done}`)).toEqual([
    "workspace Client A true",
    "endpoint Client A/Contact true",
    "recipient Client A/Contact office@example.com true",
    "endpoint Client A/News & more true",
    "endpoint Client A/Third false",
    "webhook Client A/Third http://127.0.0.1:9/crm false",
  ]);
});

test("everything that is wrong with a file is said with its lines, and nothing is changed", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const before = (await machine.mustRun(["export-config"])).stdout;
  machine.write("forms.yaml", FILE.replace("keep_days: 90", "keep_days: 0").replace("office@", "office"));
  const ran = await machine.run(["apply", "forms.yaml", "--env"]);
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toMatch(
    /^formsvc: forms\.yaml:6: workspaces\.0\.endpoints\.0\.keep_days: .*\nformsvc: forms\.yaml:11: .*address: /,
  );
  expect((await machine.mustRun(["export-config"])).stdout).toBe(before);
});

test("two webhooks that a file cannot tell apart are refused with their ids", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  const create = ["webhook", "create", "--endpoint", id, "--url", "https://192.0.2.1/a"];
  await machine.mustRun(create);
  await machine.mustRun(create);
  const ran = await machine.run(["export-config"]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/several webhooks of Contact are equal: wh_\w{26}, wh_\w{26}/);
});
