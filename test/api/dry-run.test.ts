import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapiDocument } from "../../src/api/openapi.ts";
import { LOCAL_OPERATIONS } from "../../src/api/all-operations.ts";
import { type ApiRoute, ROUTES } from "../../src/api/routes.ts";
import { createProgram } from "../../src/cli/program.ts";
import type { Scope } from "../../src/operations/access.ts";
import { newId } from "../../src/foundation/id.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { contentOf } from "../support/database-content.ts";
import { NOON } from "../support/fake-clock.ts";
import { goodPost, launchServer, startServer, type TestServer } from "../support/test-server.ts";

/** Commands with `--dry-run` that are no operation. */
const LOCAL = new Set(["apply", "migrate.up"]);
/** What the command of another operation does too. */
const MORE_NAMES = ["submission.import-table"];

/** What is sent to the routes that have a dry run, so that there would be something to do. */
const ASKED: Readonly<Record<string, object>> = {
  "webhook.replay": { failed: true },
  "mail.replay": { failed: true },
  "submission.import": {},
  "submission.import-table": {},
  "held.import": {},
  "spam.set": { choices: { keywords: [{ word: "open", effect: 40 }] } },
};

const TABLE = "created_at,name\n2026-01-31T10:00:00Z,Ada\n";

const heldLine = (endpoint: string): string =>
  JSON.stringify({
    id: newId("held", NOON),
    endpoint_id: endpoint,
    data: {},
    spam_score: 0,
    spam_reasons: [],
    ip_address: "",
    user_agent: "",
    created_at: new Date(NOON).toISOString(),
    why: "limit",
  });

/** Whether a route accepts `dry_run=true`, which says what would be done. */
const hasDryRun = ({ operation, dryRun, method }: ApiRoute): boolean =>
  dryRun !== null || (method !== "GET" && Object.hasOwn(operation.input.shape, "dry_run"));

/** An id that no row has, for each member of a path. */
const nowhere = (path: string): string => path.replace(/:\w+/g, "ep_01h455vb4pex5vsknk084sn02q");

test("the API takes dry_run for the commands that have --dry-run, and says so in its description", async () => {
  const program = await createProgram(undefined);
  const commands = program.commands.flatMap((noun) =>
    (noun.commands.length === 0 ? [noun] : noun.commands).flatMap((verb) =>
      verb.options.some(({ long }) => long === "--dry-run")
        ? [noun === verb ? noun.name() : `${noun.name()}.${verb.name()}`]
        : [],
    ),
  );
  const taken = ROUTES.filter(hasDryRun).map(({ operation }) => operation.name as string);
  const local = new Set<string>([...LOCAL, ...LOCAL_OPERATIONS.map(({ name }) => name)]);
  const expected = commands.filter((name) => !local.has(name));
  expect(taken.toSorted()).toEqual([...expected, ...MORE_NAMES].toSorted());
  const { paths } = openapiDocument(null) as {
    paths: Record<string, Record<string, { "x-operation"?: string; parameters?: { name: string }[] }>>;
  };
  const described = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ parameters = [] }) => parameters.some(({ name }) => name === "dry_run"))
    .map((each) => each["x-operation"] ?? "");
  expect(described.toSorted()).toEqual(taken.toSorted());
  expect(Object.keys(ASKED).toSorted()).toEqual(taken.toSorted());
});

async function serve(scopes?: readonly Scope[], start = startServer) {
  const server = await start();
  const form = await server.addEndpoint({ plan: "pro" });
  await server.post(form.secret, goodPost);
  const ask = askWith(server, await makeToken(server, scopes));
  return { server, form, ask };
}

/** All rows, but for the day on which the token was used. */
const rowsOf = async ({ owner }: TestServer) => ({ ...(await contentOf(owner)), api_token: null });

let world: Awaited<ReturnType<typeof serve>>;
let exported: string;
beforeAll(async () => {
  world = await serve(undefined, () => launchServer({ rateLimit: { token: { max: null } } }));
  exported = (await world.ask("GET", "/submissions/export", { query: "format=ndjson" })).text;
  // Otherwise all of it were known.
  world.server.owner.execute("DELETE FROM submission");
});
afterAll(() => world.server.stop());

describe.each(ROUTES.map((route) => ({ route, name: route.operation.name })))("$name", ({ route }) => {
  const { method, path, operation } = route;
  test(`${hasDryRun(route) ? "takes" : "refuses"} dry_run, and nothing is changed`, async () => {
    const { server, form, ask } = world;
    const before = await rowsOf(server);
    const body = { ...ASKED[operation.name], ...(operation.name === "spam.set" && { endpoint: form.id }) };
    const known = path.replace(":endpoint", form.id).replace(":workspace", form.workspaceId);
    const files: Readonly<Record<string, string>> = {
      "submission.import": exported,
      "held.import": heldLine(form.id),
    };
    const file = files[operation.name];
    const more = file === undefined ? "&format=csv" : "";
    const asked = route.takesFile
      ? { query: `dry_run=true${more}`, body: file ?? TABLE }
      : { query: "dry_run=true", ...(method !== "GET" && method !== "DELETE" && { body }) };
    const answer = await ask(method, nowhere(known), asked);
    if (hasDryRun(route)) expect([answer.status, answer.json["code"]]).toEqual([200, undefined]);
    else expect([400, 404]).toContain(answer.status);
    if (answer.status === 400)
      expect(answer.json).toMatchObject({
        code: "invalid_request",
        details: { dry_run: expect.stringMatching(/^unknown (?:parameter|member)$/) as string },
      });
    // What it names is not there, which is said first.
    if (answer.status === 404) expect(nowhere(known)).toContain("ep_01h455vb4pex5vsknk084sn02q");
    expect(await rowsOf(server)).toEqual(before);
  });
});

test("a dry run of spam settings says what spam set --dry-run says, and without it the change is made", async () => {
  const { server, form, ask } = await serve();
  const body = { endpoint: form.id, choices: { keywords: [{ word: "open", effect: 40 }] } };
  const dry = await ask("PUT", "/spam", { query: "dry_run=true", body });
  const preview = await ask("POST", "/spam/preview", { body });
  expect([dry.status, dry.json]).toEqual([200, preview.json]);
  expect(dry.json).toMatchObject({ posts: 1 });
  for (const query of ["dry_run=perhaps", "dry_run=true&dry_run=true", "dry_run="]) {
    const refused = await ask("PUT", "/spam", { query, body });
    expect([refused.status, refused.json["details"]]).toEqual([
      400,
      { dry_run: "expected true or false, once" },
    ]);
  }
  expect(server.owner.prepare("SELECT count(*) FROM endpoint_spam").pluck().get()).toBe(0);
  expect((await ask("PUT", "/spam", { query: "dry_run=false", body })).json).toMatchObject({
    chosen: body.choices,
  });
  expect(server.owner.prepare("SELECT count(*) FROM endpoint_spam").pluck().get()).toBe(1);
});

test("a dry run needs what the preview needs, and no more", async () => {
  const query = "dry_run=true";
  const writer = await serve(["endpoints:write"]);
  const refused = await writer.ask("PUT", "/spam", {
    query,
    body: { endpoint: writer.form.id, choices: {} },
  });
  expect([refused.status, refused.json["message"]]).toEqual([
    403,
    "the token does not have the scope submissions:read",
  ]);
  const reader = await serve(["endpoints:read", "submissions:read"]);
  const body = { endpoint: reader.form.id, choices: {} };
  expect((await reader.ask("PUT", "/spam", { query, body })).status).toBe(200);
  expect((await reader.ask("PUT", "/spam", { body })).status).toBe(403);
});
