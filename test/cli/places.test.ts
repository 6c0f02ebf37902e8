import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { addSubmission } from "../support/add-submission.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";

/*
 * What commands print and how they exit, with the same expectations beside the database and at a distance: the project `distance` of
 * the tests runs this file through a server.
 */

const SCHEMA = JSON.stringify({ name: { type: "string", required: true }, age: { type: "number" } });

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Posts to the server of a machine. */
async function post(url: string, key: string, body: unknown): Promise<string> {
  const answer = await fetch(`${url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return String(((await answer.json()) as { submission_id?: string }).submission_id);
}

async function namesOf(machine: OperatorMachine, noun: string): Promise<string[]> {
  const { data } = await machine.json<{ data: readonly Named[] }>([noun, "list"]);
  return data.map(({ name }) => name).toSorted();
}

test("an endpoint is made, shown by id, name and workspace, changed, paused and deleted", async () => {
  const machine = operatorMachine();
  const create = ["endpoint", "create", "--name", "Contact", "--schema", "-"];
  const made = await machine.json<{ endpoint: Named & { workspace_id: string }; keys: { secret: string } }>(
    create,
    { input: SCHEMA },
  );
  const { id } = made.endpoint;
  expect(made.keys.secret).toMatch(/^fsk_/);
  const plain = await machine.mustRun(["endpoint", "create", "--name", "Second", "--schema", "-", "--env"], {
    input: SCHEMA,
  });
  expect(plain.stdout).toMatch(
    /^FORMSVC_ENDPOINT_ID=ep_\w+\nFORMSVC_SECRET_KEY=fsk_\w+\nFORMSVC_PUBLISHABLE_KEY=fpk_\w+\n$/,
  );
  const { data: workspaces } = await machine.json<{ data: readonly Named[] }>(["workspace", "list"]);
  for (const reference of [id, "Contact", `${workspaces[0]?.name}/Contact`, `${workspaces[0]?.id}/Contact`])
    expect(await machine.json(["endpoint", "show", reference])).toMatchObject({ endpoint: { id } });
  await machine.mustRun(["endpoint", "rename", "Contact", "Über uns / 100%?"]);
  expect(await namesOf(machine, "endpoint")).toEqual(["Second", "Über uns / 100%?"]);
  const set = [
    "endpoint",
    "set",
    id,
    "--keep-days",
    "30",
    "--allow-origin",
    "https://example.com",
    "--honeypot",
    "a",
  ];
  expect(await machine.json(set)).toMatchObject({
    endpoint: { keep_days: 30, allowed_origins: ["https://example.com"], honeypots: ["a"] },
  });
  expect(await machine.json(["endpoint", "pause", id])).toMatchObject({ endpoint: { state: "paused" } });
  expect(await machine.json(["endpoint", "resume", id])).toMatchObject({ endpoint: { state: "active" } });
  const unasked = await machine.run(["endpoint", "delete", id]);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("give --yes")]);
  expect(await machine.json(["endpoint", "delete", id, "--yes"])).toMatchObject({ endpoint: { id } });
  expect((await machine.run(["endpoint", "show", id])).code).toBe(3);
  expect((await machine.mustRun(["endpoint", "list"])).stdout).toMatch(
    /^ID .*\nep_\w+ +Second +\S+ +active /,
  );
});

test("a schema is replaced and printed, and keys are issued, rotated and revoked", async () => {
  const machine = operatorMachine();
  const { id } = await machine.createEndpoint();
  expect(await machine.json(["schema", "set", "Contact", "-"], { input: SCHEMA })).toEqual({
    endpoint_id: id,
    schema_version: 2,
  });
  expect(JSON.parse((await machine.mustRun(["schema", "show", "Contact"])).stdout)).toEqual(
    JSON.parse(SCHEMA),
  );
  expect((await machine.mustRun(["schema", "types", id])).stdout).toContain("age?: number");
  const wrong = await machine.run(["schema", "set", id, "-"], { input: '{"name":{"type":"colour"}}' });
  expect(wrong.code).toBe(2);
  const issued = await machine.json<{ key: Named; secret: string }>(["key", "issue", id, "--kind", "secret"]);
  expect(issued.secret).toMatch(/^fsk_/);
  const rotated = await machine.json<{ key: Named; secret: string }>(["key", "rotate", issued.key.id]);
  expect(rotated.secret).not.toBe(issued.secret);
  expect((await machine.mustRun(["key", "revoke", rotated.key.id])).stdout).toBe(`${rotated.key.id}\n`);
  const { data: keys } = await machine.json<{ data: { state: string }[] }>(["key", "list", id]);
  expect(keys.map(({ state }) => state).toSorted()).toEqual(["active", "active", "revoked", "revoked"]);
});

test("an account in doubt is vouched for once, by its address, after what ends with it is confirmed", async () => {
  const machine = operatorMachine();
  const { account } = await machine.json<{ account: Named }>(["account", "create", "kim@example.org"]);
  machine.open().exec("UPDATE account SET is_doubtful = 1 WHERE email = 'kim@example.org'");
  expect((await machine.mustRun(["account", "list"])).stdout).toMatch(/kim@example\.org +\w+ +in doubt /);
  const unasked = await machine.run(["account", "vouch", "kim@example.org"]);
  expect([unasked.code, unasked.stderr]).toEqual([
    2,
    expect.stringMatching(/give --yes.*end its password, second factor, sessions and tokens/s),
  ]);
  const vouch = ["account", "vouch", "KIM@example.org", "--yes"];
  expect(await machine.json(vouch)).toMatchObject({ account: { id: account.id, is_doubtful: false } });
  const again = await machine.run(vouch);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("nobody doubts whose address")]);
  expect((await machine.run(["account", "vouch", "nobody@example.org", "--yes"])).code).toBe(3);
  expect((await machine.mustRun(["account", "list"])).stdout).not.toContain("in doubt");
});

test("workspaces and accounts are made, renamed, counted and deleted", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ben = await machine.json<{ account: Named; workspace: Named }>([
    "account",
    "create",
    "ben@example.org",
  ]);
  const own = ["workspace", "create", "--name", "Client sites", "--account", "ben@example.org"];
  const { workspace } = await machine.json<{ workspace: Named }>(own);
  expect((await machine.mustRun(["workspace", "rename", "Client sites", "Clients"])).stdout).toBe(
    `${workspace.id}\n`,
  );
  expect(await namesOf(machine, "workspace")).toEqual(["Clients", "ben", "owner"]);
  expect(await machine.json(["workspace", "set-plan", "Clients", "pro"])).toMatchObject({
    workspace: { plan: "pro" },
  });
  expect(await machine.json(["workspace", "show", "Clients"])).toMatchObject({
    workspace: { id: workspace.id, plan: "pro" },
  });
  expect(await machine.json(["workspace", "usage", "Clients"])).toMatchObject({ used: 0 });
  expect((await machine.json<{ data: object[] }>(["workspace", "usage", "--all"])).data).toHaveLength(3);
  await machine.createEndpoint({ workspace: "Clients" });
  const unasked = async (...args: string[]) => {
    const { code, stdout, stderr } = await machine.run([...args, "--json"]);
    expect([code, stdout]).toEqual([2, ""]);
    return stderr;
  };
  expect(await unasked("workspace", "delete", "Clients")).toContain(
    `Delete ${workspace.id} (Clients) with 1 endpoint, 0 submissions and 0 held posts?`,
  );
  expect(await unasked("account", "delete", "ben@example.org", "--with-workspaces")).toContain(
    "and 2 workspaces (ben, Clients) with 1 endpoint, 0 submissions and 0 held posts?",
  );
  expect(await machine.json(["workspace", "delete", "Clients", "--yes"])).toMatchObject({
    workspace: { id: workspace.id },
  });
  await machine.mustRun(["account", "rename", "ben@example.org", "ben@example.net"]);
  expect(await machine.json(["account", "set", "ben@example.net", "--operator"])).toMatchObject({
    account: { id: ben.account.id, is_operator: true },
  });
  const last = await machine.run(["account", "delete", "owner@localhost", "--yes"]);
  expect([last.code, last.stdout]).toEqual([1, ""]);
  const gone = await machine.json(["account", "delete", "ben@example.net", "--with-workspaces", "--yes"]);
  expect(gone).toMatchObject({ account: { id: ben.account.id } });
  expect((await machine.run(["account", "sessions", "ben@example.net"])).code).toBe(3);
  expect((await machine.json<{ data: object[] }>(["account", "list"])).data).toHaveLength(1);
});

test("nobody is asked about a deletion or transfer that would be refused", async () => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  await machine.mustRun(["account", "create", "ben@example.org"]);
  for (const [command, code, words] of [
    ["workspace transfer ben --to ben@example.org", 2, "ben@example.org owns the workspace already"],
    ["member remove ben@example.org --workspace ben", 1, "ben@example.org is the only owner of ben"],
    ["account delete ben@example.org", 1, "ben@example.org is the only owner of 1 workspace: ben"],
    ["account delete owner@localhost", 1, "owner@localhost is the only operator"],
  ] as const) {
    const ran = await machine.run(command.split(" "));
    expect([ran.code, ran.stderr], command).toEqual([code, expect.stringContaining(words)]);
    expect(ran.stderr).not.toContain("--yes");
  }
});

test("a workspace is handed over, a form moves into it while its plan has room, and a member's role is changed", async () => {
  const plans = { hobby: { monthlySubmissions: null, endpoints: 1, customSpam: false } };
  const machine = operatorMachine({ plans });
  const { id } = await machine.createEndpoint();
  const ben = ["account", "create", "ben@example.org"];
  const { workspace } = await machine.json<{ workspace: Named & { account_id: string } }>(ben);
  const transfer = ["workspace", "transfer", "ben", "--to", "owner@localhost", "--stay", "editor"];
  const unasked = await machine.run(transfer);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("give --yes")]);
  for (const wrong of [
    ["workspace", "transfer", "ben", "--to", "nobody@example.org"],
    ["workspace", "transfer", "nowhere", "--to", "owner@localhost"],
    ["member", "remove", "nobody@example.org", "--workspace", "ben"],
  ]) {
    const { code, stderr } = await machine.run(wrong);
    expect([code, stderr], wrong.join(" ")).toEqual([3, expect.not.stringContaining("--yes")]);
  }
  const transferred = await machine.json([...transfer, "--yes"]);
  const owner = machine
    .open()
    .prepare("SELECT id FROM account WHERE email = 'owner@localhost'")
    .pluck()
    .get();
  expect(transferred).toMatchObject({ workspace: { id: workspace.id, account_id: owner } });
  const member = ["member", "set", "ben@example.org", "--workspace", "ben", "--role", "reader"];
  expect(await machine.json([...member, "--no-export"])).toEqual({
    member: expect.objectContaining({
      account_id: workspace.account_id,
      role: "reader",
      export: false,
    }) as object,
  });
  expect(await machine.json(["endpoint", "move", "Contact", "--to", "ben"])).toMatchObject({
    endpoint: { id, workspace_id: workspace.id },
  });
  await machine.createEndpoint({ name: "Second", workspace: "owner" });
  const full = await machine.run(["endpoint", "move", "Second", "--to", "ben", "--json"]);
  expect([full.code, full.stdout]).toEqual([4, ""]);
  expect(JSON.parse(full.stderr)).toMatchObject({ error: "plan_limit" });
});

test("a submission is done, assigned, noted, put into the bin and brought back", async () => {
  const machine = operatorMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const id = addSubmission(machine.open(), { endpointId, createdAt: Date.now() });
  const set = ["submission", "set", id, "--state", "done", "--assignee", "owner@localhost"];
  expect(await machine.json(set)).toEqual({
    set: [id],
    state: "done",
    assignee: expect.objectContaining({ email: "owner@localhost" }) as object,
  });
  expect(await machine.json(["submission", "note", id, "Called back"])).toEqual({
    note: expect.objectContaining({ text: "Called back" }) as object,
  });
  const unasked = await machine.run(["submission", "delete", id]);
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("give --yes")]);
  expect(await machine.json(["submission", "delete", id, "--yes"])).toEqual({ deleted: [id] });
  expect((await machine.run(["submission", "show", id])).stderr).toContain("in the bin");
  expect(await machine.json(["submission", "undelete", id])).toEqual({ undeleted: [id] });
  const listed = ["submission", "list", "--state", "done", "--assignee", "owner@localhost"];
  expect(await machine.json(listed)).toMatchObject({ data: [{ id }] });
});

test("submissions are listed page by page, shown, marked, found, exported and deleted", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: JSON.parse(SCHEMA) as object });
  const server = await machine.serveHere();
  const ids: string[] = [];
  for (let age = 0; age < 130; age += 1)
    ids.push(await post(server.url, endpoint.secret, { name: "Ana", age }));
  type Page = { readonly data: readonly { id: string }[]; readonly next_cursor: string | null };
  const page = await machine.json<Page>(["submission", "list", "--limit", "120"]);
  const rest = await machine.json<Page>([
    "submission",
    "list",
    "--limit",
    "120",
    "--cursor",
    page.next_cursor ?? "",
  ]);
  expect([page.data.length, rest.data.length, rest.next_cursor]).toEqual([120, 10, null]);
  expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed());
  const table = await machine.mustRun(["submission", "list", "--limit", "1"]);
  expect(table.stdout).toMatch(/^CREATED .*\n\S+ +sub_\w+ +Contact +\d+ +\{"name":"Ana","age":129\}\n$/);
  expect(table.stderr).toContain("more with: --cursor ");
  const [first = ""] = ids;
  expect(await machine.json(["submission", "show", first])).toMatchObject({
    id: first,
    data: { name: "Ana", age: 0 },
  });
  expect(await machine.json(["submission", "mark", first, "spam"])).toEqual({ id: first, mark: "spam" });
  expect((await machine.mustRun(["submission", "show", first])).stderr).toContain("marked as spam");
  const csv = (await machine.mustRun(["submission", "export"])).stdout.trim().split("\n");
  expect([csv.length, csv[1]]).toEqual([131, expect.stringContaining(first)]);
  const lines = (await machine.mustRun(["submission", "export", "--format", "ndjson", "--limit", "3"]))
    .stdout;
  expect(
    lines
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as Named).id),
  ).toEqual(ids.slice(0, 3));
  const file = machine.path("all.json");
  const exported = await machine.json(["submission", "export", "--format", "json", "--output", file]);
  expect(exported).toEqual({ exported: 130, file });
  expect(JSON.parse(readFileSync(file, "utf8"))).toHaveLength(130);
  const found = await machine.json<{ submissions: object[] }>(["submission", "find", "--field", "name=ana"]);
  expect(found.submissions.length).toBeGreaterThan(90);
  expect(await machine.json(["submission", "delete", first, "--now", "--yes"])).toEqual({ deleted: [first] });
  expect((await machine.run(["submission", "show", first])).code).toBe(3);
  await server.stop();
});

test("a tail prints what is there, and follows what comes", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: JSON.parse(SCHEMA) as object });
  const server = await machine.serveHere();
  const first = await post(server.url, endpoint.secret, { name: "Ana" });
  expect((await machine.mustRun(["submission", "tail", "--json"])).stdout).toContain(first);
  const child = await machine.begin(["submission", "tail", "--follow"]);
  const lines: string[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(line));
  await until(() => lines.length === 1);
  const second = await post(server.url, endpoint.secret, { name: "Ben" });
  await until(() => lines.length === 2);
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`${first}  Contact  \\d+  {"name":"Ana"}$`)),
    expect.stringMatching(new RegExp(`${second}  Contact  \\d+  {"name":"Ben"}$`)),
  ]);
});

test.each<[args: string[], code: number, said: RegExp]>([
  [["endpoint", "show", "nobody"], 3, /formsvc endpoint list/],
  [["endpoint", "show", ".."], 3, /\.\./],
  [["submission", "show", "sub_01h455vb4pex5vsknk084sn02q"], 3, /no submission/],
  [["endpoint", "set", "Contact", "--success-url", "ftp://example.org"], 2, /http/],
  [["webhook", "create", "--endpoint", "Contact", "--url", "nowhere"], 2, /http/],
  [["key", "revoke", "fsk_unknown"], 3, /formsvc key list/],
  [["webhook", "enable", "wh_01h455vb4pex5vsknk084sn02q"], 3, /formsvc webhook list/],
  [["workspace", "set-plan", "owner", "gold"], 2, /there is no plan gold|plans/],
  [["submission", "list", "--cursor", "nonsense"], 2, /cursor/],
  [["submission", "list", "--limit", "0"], 2, /whole number/],
])("%j exits with %i and says what to do, in both places", async (args, code, said) => {
  const machine = operatorMachine();
  await machine.createEndpoint();
  const ran = await machine.run(args);
  expect([ran.code, ran.stdout]).toEqual([code, ""]);
  expect(ran.stderr).toMatch(said);
  expect(ran.stderr).not.toContain("internal error");
});

test("a plan's limit exits with 4 and names the plan", async () => {
  const machine = operatorMachine();
  const plans = { hobby: { monthlySubmissions: null, endpoints: 1, customSpam: false } };
  machine.configure({ plans });
  await machine.createEndpoint();
  const ran = await machine.run(["endpoint", "create", "--name", "B", "--schema", "-", "--json"], {
    input: SCHEMA,
  });
  expect([ran.code, ran.stdout]).toEqual([4, ""]);
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: "plan_limit" });
});
