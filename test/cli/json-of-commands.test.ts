import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { exampleSchema } from "../support/example-schema.ts";
import { emptyMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const id = (prefix: string): unknown => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{26}$`));
const isoTime = expect.stringMatching(ISO_TIME) as unknown;

test("on an empty folder the first endpoint can be made at once, with an account and a Hobby workspace", async () => {
  const machine = emptyMachine();
  const made = await machine.json(["endpoint", "create", "--name", "Contact", "--schema", "-"], {
    input: JSON.stringify(exampleSchema),
  });
  expect(made).toEqual({
    endpoint: {
      id: id("ep"),
      name: "Contact",
      workspace_id: id("ws"),
      schema: exampleSchema,
      created_at: isoTime,
    },
    keys: {
      secret: expect.stringMatching(/^fsk_[0-9A-Za-z]{50}$/) as unknown,
      publishable: expect.stringMatching(/^fpk_[0-9A-Za-z]{50}$/) as unknown,
    },
  });
  expect((await machine.json<{ data: unknown[] }>(["account", "list"])).data).toHaveLength(1);
  expect((await machine.json<{ data: unknown[] }>(["workspace", "list"])).data).toMatchObject([
    { plan: "hobby" },
  ]);
});

test("in an empty folder nothing is taken for an empty database: what needs one says so and makes none", async () => {
  const machine = emptyMachine();
  for (const args of [
    ["account", "list"],
    ["workspace", "usage"],
    ["endpoint", "list"],
    ["submission", "list"],
    ["submission", "tail"],
    ["submission", "find", "--field", "email=a@example.org", "--erase", "--yes"],
    ["submission", "export", "--output", "x.csv"],
    ["webhook", "replay", "--failed"],
  ]) {
    const ran = await machine.run(args);
    expect({ args, code: ran.code, stdout: ran.stdout }).toEqual({ args, code: 5, stdout: "" });
    expect(ran.stderr).toContain(`${machine.database}: there is no database`);
  }
  expect(readdirSync(machine.folder)).toEqual([]);
});

test("commands that need no database work in an empty folder", async () => {
  const machine = emptyMachine();
  for (const args of [["config", "show"], ["config", "check"], ["migrate", "status"], ["version"]]) {
    const ran = await machine.run(args);
    expect({ args, code: ran.code }).toEqual({ args, code: 0 });
  }
});

test("commands that an installation begins with create the database and print its path", async () => {
  for (const args of [
    ["account", "create", "ada@example.com"],
    ["workspace", "create", "--name", "Sites"],
    ["endpoint", "create", "--name", "News", "--schema", "-"],
    ["init"],
  ]) {
    const machine = emptyMachine();
    const ran = await machine.run(args, { input: "{}" });
    expect({ args, code: ran.code }).toEqual({ args, code: 0 });
    expect(ran.stderr).toContain(`made a new database: ${machine.database}`);
  }
});

test("the JSON of accounts, workspaces, plans and usage is what scripts rely on", async () => {
  const machine = emptyMachine();
  const made = await machine.json(["account", "create", "ada@example.com"]);
  const account = {
    id: id("acct"),
    email: "ada@example.com",
    is_operator: true,
    is_doubtful: false,
    created_at: isoTime,
  };
  const named = { id: id("ws"), account_id: id("acct"), name: "ada", plan: "hobby" };
  const brand = { brand_colour: null, brand_name: null, brand_footer: null };
  const workspace = { ...named, time_zone: null, ...brand, created_at: isoTime };
  expect(made).toEqual({ account, workspace });
  expect(await machine.json(["account", "list"])).toEqual({ data: [account] });
  expect(await machine.json(["workspace", "list"])).toEqual({ data: [workspace] });

  const second = await machine.json<{ workspace: { id: string } }>([
    "workspace",
    "create",
    "--name",
    "Client",
  ]);
  expect(second).toEqual({ workspace: { ...workspace, name: "Client" } });
  expect(await machine.json(["workspace", "set-plan", "Client", "pro"])).toMatchObject({
    workspace: { plan: "pro" },
  });
  expect(await machine.json(["workspace", "show", "Client"])).toMatchObject({
    workspace: {
      name: "Client",
      limits: { monthly_submissions: 10_000, endpoints: 50, custom_spam: true },
    },
  });
  expect(await machine.json(["workspace", "usage", second.workspace.id, "--month", "2026-01"])).toEqual({
    workspace_id: second.workspace.id,
    plan: "pro",
    month: "2026-01",
    used: 0,
    limit: 10_000,
    remaining: 10_000,
  });
  expect(await machine.json(["workspace", "usage", "--workspace", "Client"])).toMatchObject({
    workspace_id: second.workspace.id,
  });
  expect((await machine.run(["workspace", "usage", "Client", "--workspace", "Client"])).code).toBe(2);
});

test("if two workspaces have an endpoint of one name, --workspace says whose is meant", async () => {
  const machine = emptyMachine();
  const { id: first } = await machine.createEndpoint();
  await machine.json(["workspace", "create", "--name", "Client"]);
  const schema = machine.write("schema.json", exampleSchema);
  const create = ["endpoint", "create", "--name", "Contact", "--schema", schema, "--workspace", "Client"];
  const { endpoint: second } = await machine.json<{ endpoint: { id: string } }>(create);
  expect((await machine.run(["endpoint", "show", "Contact"])).code).not.toBe(0);
  const verbs = [["show"], ["pause"], ["resume"], ["set", "--keep-days", "9"], ["delete", "--yes"]];
  for (const [verb = "", ...options] of verbs) {
    const named = ["endpoint", verb, "Contact", ...options, "--workspace", "Client"];
    expect(await machine.json(named), verb).toMatchObject({ endpoint: { id: second.id } });
  }
  expect(await machine.json(["endpoint", "show", "Contact"])).toMatchObject({
    endpoint: { id: first, state: "active", keep_days: null },
  });
  expect((await machine.run(["endpoint", "rename", "Contact", "X", "--workspace", "Client"])).code).toBe(3);
});

test("the JSON of keys is what scripts rely on, and a key is named by its id or its 12 characters", async () => {
  const machine = emptyMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const key = { id: id("key"), endpoint_id: endpointId, created_at: isoTime };
  const issued = await machine.json<{ key: { id: string }; secret: string }>([
    "key",
    "issue",
    "Contact",
    "--kind",
    "secret",
  ]);
  expect(issued).toEqual({
    key: { ...key, kind: "secret" },
    secret: expect.stringMatching(/^fsk_/) as unknown,
  });
  const rotated = await machine.json<{ publishable?: string; key: { id: string } }>([
    "key",
    "rotate",
    issued.key.id,
  ]);
  expect(rotated).toEqual({
    key: { ...key, kind: "secret" },
    secret: expect.stringMatching(/^fsk_/) as unknown,
  });
  const listed = await machine.json<{ data: { id: string; key: string; state: string }[] }>([
    "key",
    "list",
    endpointId,
  ]);
  expect(listed.data.map(({ state }) => state)).toEqual(["active", "active", "revoked", "active"]);
  const last = listed.data.at(-1)!;
  expect(await machine.json(["key", "revoke", last.key])).toMatchObject({
    key: { id: last.id, state: "revoked" },
  });
  expect((await machine.run(["key", "rotate", last.id])).code).toBe(1);
});

test("the JSON of submissions is what scripts rely on, by list, show, tail and delete", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const stored = (await (
    await tryPost(server.url, keys.secret, examplePost, { "user-agent": "test" })
  ).json()) as { submission_id: string };
  const submission = {
    id: stored.submission_id,
    endpoint_id: keys.id,
    data: examplePost,
    spam_score: expect.any(Number) as unknown,
    spam_class: "low",
    spam_reasons: expect.any(Array) as unknown,
    spam_version: expect.any(Number) as unknown,
    ip_address: "127.0.0.1",
    user_agent: "test",
    created_at: isoTime,
    state: "open",
    assignee: null,
    notes: [],
  };
  const list = ["submission", "list", "--endpoint", "Contact", "--since", "1h"];
  expect(await machine.json(list)).toEqual({ data: [submission], next_cursor: null });
  expect(await machine.json(["submission", "show", stored.submission_id])).toEqual(submission);
  expect((await machine.run(["submission", "tail", "--json"])).stdout).toBe(
    `${JSON.stringify(await machine.json(["submission", "show", stored.submission_id]))}\n`,
  );
  expect(await machine.json(["submission", "delete", stored.submission_id, "--yes"])).toEqual({
    deleted: [stored.submission_id],
  });
  expect((await machine.run(["submission", "show", stored.submission_id])).code).toBe(3);
  expect(await machine.json(["workspace", "usage"])).toMatchObject({ used: 1 });
});

test("submission tail goes on after the submission at which a script stopped", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const ids: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    const answer = await tryPost(server.url, keys.secret);
    ids.push(((await answer.json()) as { submission_id: string }).submission_id);
  }
  const tailed = async (...options: string[]) => {
    const { stdout } = await machine.run(["submission", "tail", "--json", ...options]);
    return stdout
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { id: string }).id]));
  };
  expect(await tailed("--cursor", ids[0]!)).toEqual(ids.slice(1));
  expect(await tailed("--cursor", ids[0]!, "--limit", "2")).toEqual(ids.slice(1, 3));
  expect(await tailed("--cursor", ids[3]!)).toEqual([]);
  expect((await machine.run(["submission", "tail", "--cursor", "nonsense"])).code).toBe(2);
});

test("pages of submissions follow each other by next_cursor without a gap or a repetition", async () => {
  const machine = emptyMachine();
  const keys = await machine.createEndpoint();
  const server = await machine.serveHere();
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const answer = await tryPost(server.url, keys.secret);
    ids.unshift(((await answer.json()) as { submission_id: string }).submission_id);
  }
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const more: string[] = cursor === null ? [] : ["--cursor", cursor];
    const page: { data: { id: string }[]; next_cursor: string | null } = await machine.json([
      "submission",
      "list",
      "--limit",
      "2",
      ...more,
    ]);
    seen.push(...page.data.map((each) => each.id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(ids);
});

test("the JSON of endpoints and schemas follows every change", async () => {
  const machine = emptyMachine();
  const { id: endpointId } = await machine.createEndpoint();
  await machine.run(["endpoint", "rename", "Contact", "Sales"]);
  const settings =
    "--allow-origin https://a.example --unknown-fields reject --honeypot website --success-url https://a.example/thanks";
  await machine.run(["endpoint", "set", "Sales", ...settings.split(" ")]);
  const paused = await machine.json(["endpoint", "pause", "Sales"]);
  expect(paused).toEqual({
    endpoint: {
      id: endpointId,
      name: "Sales",
      workspace_id: id("ws"),
      state: "paused",
      allowed_origins: ["https://a.example"],
      unknown_fields: "reject",
      honeypots: ["website"],
      success_url: "https://a.example/thanks",
      error_url: null,
      language: null,
      keep_days: null,
      store_address: "full",
      page: "off",
      page_title: null,
      page_intro: null,
      page_colour: null,
      page_logo: null,
      page_thanks: null,
      challenge: "off",
      challenge_required: "off",
      challenge_site_key: null,
      schema_version: 1,
      created_at: isoTime,
    },
  });
  expect(await machine.json(["endpoint", "resume", "Sales"])).toMatchObject({
    endpoint: { state: "active" },
  });
  const file = machine.write("next.json", { email: { type: "string", format: "email" } });
  expect(await machine.json(["schema", "check", file])).toEqual({ valid: true, fields: ["email"] });
  expect(await machine.json(["schema", "set", "Sales", file])).toEqual({
    endpoint_id: endpointId,
    schema_version: 2,
  });
  expect(await machine.json(["schema", "show", "Sales"])).toEqual({
    email: { type: "string", format: "email" },
  });
  expect(await machine.json(["endpoint", "show", "Sales"])).toMatchObject({
    endpoint: { schema_version: 2 },
  });
  expect(await machine.json(["schema", "json-schema", "Sales"])).toMatchObject({
    title: "Sales",
    properties: { email: { type: "string", format: "email" } },
  });
  const { stdout: types } = await machine.mustRun(["schema", "types", "Sales"]);
  expect(types).toContain("export interface SalesInput {\n  email?: string;\n}\n");
  expect(await machine.json(["schema", "types", "Sales"])).toEqual({
    endpoint_id: endpointId,
    schema_version: 2,
    types,
  });
  expect(await machine.json(["endpoint", "delete", "Sales", "--yes"])).toMatchObject({
    endpoint: { id: endpointId },
  });
  expect(await machine.json(["endpoint", "list"])).toEqual({ data: [] });
});

test("data goes to standard output and notes to standard error, which --quiet leaves out", async () => {
  const machine = emptyMachine();
  const file = machine.write("schema.json", exampleSchema);
  const create = ["endpoint", "create", "--schema", file, "--name"];
  const loud = await machine.run([...create, "Loud"]);
  expect(loud.stdout).toMatch(/^endpoint {5}ep_\w+\nsecret {7}fsk_\w+\npublishable {2}fpk_\w+\n$/);
  expect(loud.stderr).toContain("shown this once");
  expect((await machine.run([...create, "Quiet", "--quiet"])).stderr).toBe("");
  const refused = await machine.run(["endpoint", "show", "Nobody", "--quiet"]);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr).toContain("formsvc endpoint list");
});

test("--env prints three lines that a shell can eval", async () => {
  const machine = emptyMachine();
  const file = machine.write("schema.json", exampleSchema);
  const made = await machine.run(["endpoint", "create", "--name", "A", "--schema", file, "--env"]);
  expect(made.stdout).toMatch(
    /^FORMSVC_ENDPOINT_ID=ep_\w+\nFORMSVC_SECRET_KEY=fsk_\w+\nFORMSVC_PUBLISHABLE_KEY=fpk_\w+\n$/,
  );
});
