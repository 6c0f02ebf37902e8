import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { type ApiRoute, ROUTES } from "../../src/api/routes.ts";
import { moveEndpoint } from "../../src/endpoints/move-endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { SCOPES } from "../../src/operations/access.ts";
import { type Ask, askWith, makeToken } from "../support/api-client.ts";
import { contentOf } from "../support/database-content.ts";
import type { Answer } from "../support/http-client.ts";
import { addMember, EDITOR } from "../support/members.ts";
import { furnish, type OwnerHome } from "../support/owner-home.ts";
import { startReceiverWith, type TestReceiver } from "../support/receivers.ts";
import { performOn } from "../support/terminal.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

/*
 * Every member of an operation's input that can name a row, with rows that the caller does not see. Dora's form lies in Ben's workspace, but the
 * callers are bound to another form of it; Cleo's lies in another workspace. Each answer must be the one that a made-up name gets.
 */

let server: TestServer;
let own: Rows;
let callers: readonly Caller[];
let receiver: TestReceiver;

/** Somebody who asks, and the rows that they do not see. */
interface Caller {
  readonly ask: Ask;
  readonly others: readonly Rows[];
}

beforeAll(async () => {
  server = await launchServer({
    mail: { host: "127.0.0.1", port: 9, from: "forms@example.com" },
    mcp: { enabled: true, allow: ["triage", "replay"] },
    rateLimit: { token: { max: null } },
    server: { baseUrl: "https://forms.example.com" },
  });
  receiver = await startReceiverWith((response) => void response.end());
  const home = (name: string) => furnish(server, `${name}@example.com`, { receiverUrl: receiver.url });
  await home("operator");
  const [ben, cleo, dora] = [await home("ben"), await home("cleo"), await home("dora")];
  // What was sent has arrived and is recorded, so that nothing changes by itself.
  const open = server.owner.prepare("SELECT 1 FROM delivery WHERE state NOT IN ('delivered', 'failed')");
  await until(() => open.get() === undefined);
  const parts = { parts: { endpointContents: { deletions: [], moves: [] } } };
  await performOn(server.owner, moveEndpoint, { endpoint: dora.endpointId, to: ben.workspaceId }, parts);
  own = rowsOf(ben, "ben");
  const strange = rowsOf(cleo, "cleo");
  // The workspace of Dora's form is theirs.
  const all = [strange, { ...rowsOf(dora, "dora"), workspace: [] }];
  const bound = { ...EDITOR, endpoints: [ben.endpointId] };
  await addMember(server.owner, ben.workspaceId, "ed@example.com", bound);
  const scopes = SCOPES.filter((scope) => scope !== "operator");
  const token = async (whose: object): Promise<Ask> =>
    askWith(server, await makeToken(server, scopes, whose));
  callers = [
    { ask: await token({ endpoint: ben.endpointId }), others: all },
    { ask: await token({ account: "ed@example.com" }), others: all },
    { ask: await token({ account: "ben@example.com" }), others: [strange] },
  ];
});
afterAll(async () => {
  await server.stop();
  await receiver[Symbol.asyncDispose]();
});

/** What names the rows of a form, its workspace and its owner. */
type Rows = ReturnType<typeof rowsOf>;
type Kind = keyof Rows;

function rowsOf(home: OwnerHome, name: string) {
  const email = `${name}@example.com`;
  return {
    endpoint: [home.endpointId, `Form of ${email}`],
    workspace: [home.workspaceId, name],
    post: [...home.submissionIds, home.heldId],
    recipient: [home.webhookId, home.mailRecipientId, home.autoReplyId],
    delivery: [home.deliveryId, home.mailDeliveryId, home.replyDeliveryId],
    key: [home.keyId, home.secret, home.publishable],
    file: [home.fileId],
    person: [email, home.accountId],
  };
}

/** The kind of rows that each member of an input can name. A member that is not here names none. */
const KINDS: Readonly<Record<string, Kind>> = {
  account: "person",
  assignee: "person",
  delivery: "delivery",
  endpoint: "endpoint",
  endpoints: "endpoint",
  email: "person",
  file: "file",
  held: "post",
  key: "key",
  post: "post",
  recipient: "recipient",
  reply_to: "recipient",
  submission: "post",
  submissions: "post",
  to: "person",
  webhook: "recipient",
  workspace: "workspace",
};

/** What else an operation needs to get as far as the rows. */
const NEEDED: Readonly<Record<string, object>> = {
  "account.create": { email: "new@example.com" },
  "account.rename": { email: "new@example.com" },
  "account.set": { is_operator: true },
  "autoreply.set": { field: "email" },
  "endpoint.allow-origin": { origin: "https://www.example.com" },
  "endpoint.create": { name: "New", schema: { name: { type: "string" } } },
  "endpoint.ignore-origin": { origin: "https://www.example.com" },
  "endpoint.set": { name: "Other" },
  "endpoint.set-challenge-secret": { secret: null },
  "key.issue": { kind: "publishable" },
  "mail.replay": { failed: true },
  "mcp.called": { tool: "get_usage", ids: [] },
  "member.invite": { email: "new@example.com", role: "reader" },
  "member.set": { email: "ed@example.com" },
  "recipient.create": { address: "office@example.org" },
  "recipient.set": { max_spam_score: 7 },
  "schema.set": { schema: { name: { type: "string" } } },
  "spam.preview": { choices: {} },
  "spam.score": { post: { name: "Ada" } },
  "spam.set": { choices: {} },
  "submission.find": { field: "email", value: "friend@example.org" },
  "submission.import-table": { format: "csv" },
  "submission.mark": { mark: "spam" },
  "submission.note": { text: "x" },
  "submission.set": { state: "done" },
  "webhook.create": { url: "https://203.0.113.7/hook" },
  "webhook.replay": { failed: true },
  "webhook.set": { max_spam_score: 7 },
  "workspace.create": { name: "New" },
  "workspace.rename": { name: "Other" },
  "workspace.set": { time_zone: "Europe/Berlin" },
  "workspace.set-plan": { plan: "hobby" },
};

/** The members that together name what is sent again: one of them is given. */
const ALTERNATIVE = "delivery";

/** They do nothing with what is not there, or say nothing about it. */
const ACCEPTS_ANY = new Set(["mcp.called", "submission.erase", "submission.list", "submission.export"]);

/** An owner may invite anybody, and `spam.score` is given a post. */
const isNoName = (name: string, member: string): boolean =>
  [name, member].join(" ") === "spam.score post" || [name, member].join(" ") === "member.invite email";

function shapeOf({ operation }: ApiRoute): Readonly<Record<string, z.ZodType>> {
  return operation.input.shape;
}

/** A valid input with rows of the caller's own form, in which one member names something else. */
function inputWith(route: ApiRoute, member: string, value: string): Record<string, unknown> {
  const { name } = route.operation;
  const input: Record<string, unknown> = { ...NEEDED[name] };
  if (member === ALTERNATIVE) delete input["failed"];
  for (const [each, type] of Object.entries(shapeOf(route))) {
    const kind = KINDS[each];
    const isGiven = each === member || input[each] !== undefined || kind === undefined;
    if (isGiven || type.safeParse(undefined).success) continue;
    input[each] = takesList(type) ? own[kind].slice(0, 1) : own[kind][0];
  }
  const type = shapeOf(route)[member];
  return { ...input, [member]: type !== undefined && takesList(type) ? [value] : value };
}

const takesList = (type: z.ZodType): boolean =>
  type.safeParse([newId("sub", 1)]).success || type.safeParse([newId("held", 1)]).success;

function send(ask: Ask, route: ApiRoute, input: Readonly<Record<string, unknown>>): Promise<Answer> {
  const { method, takesFile } = route;
  const inPath = new Set(Array.from(route.path.matchAll(/:(\w+)/g), ([, name = ""]) => name));
  const path = route.path.replace(/:(\w+)/g, (_match, name: string) =>
    encodeURIComponent(String(input[name])),
  );
  const rest = Object.entries(input).filter(([name]) => !inPath.has(name));
  if (method !== "GET" && method !== "DELETE" && !takesFile)
    return ask(method, path, { body: Object.fromEntries(rest) });
  const query = new URLSearchParams(
    rest.flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])),
  );
  const body = "name,email\nAda,ada@example.org\n";
  return ask(method, path, {
    query: query.toString(),
    ...(takesFile && { body, headers: { "content-type": "text/csv" } }),
  });
}

/** A name of the same look that nothing has. */
function madeUp(name: string): string {
  const id = /^([a-z]+)_[0-9a-z]{26}$/.exec(name);
  if (id !== null) return newId(id[1] as Parameters<typeof newId>[0], server.clock.now());
  if (/^f[sp]k_/.test(name)) return name.slice(0, 4) + Array.from(name.slice(4)).toReversed().join("");
  return name.replace(/cleo|dora/, "nobo");
}

/** What an answer says, whatever name was asked for. */
function saidOf({ status, text }: Answer, name: string): string {
  return `${status} ${text.replaceAll(name, "NAME").replace(/"request_id":"[^"]*"/, "")}`;
}

const naming = ROUTES.flatMap((route) =>
  Object.keys(shapeOf(route))
    .filter((member) => KINDS[member] !== undefined && !isNoName(route.operation.name, member))
    .map((member) => ({ route, member, name: route.operation.name })),
);

const changedTables = async (work: () => Promise<void>): Promise<string[]> => {
  const before = await contentOf(server.owner);
  await work();
  const after = await contentOf(server.owner);
  const isSame = (table: string) => JSON.stringify(before[table]) === JSON.stringify(after[table]);
  return Object.keys(after).filter((table) => table !== "api_token" && !isSame(table));
};

test.each(naming)(
  "$name tells another form's rows from none in no way, named as $member",
  async ({ route, member, name }) => {
    const kind = KINDS[member] as Kind;
    const changed = await changedTables(async () => {
      for (const { ask, others } of callers)
        for (const row of others.flatMap((rows) => rows[kind])) {
          const none = madeUp(row);
          const answer = await send(ask, route, inputWith(route, member, row));
          const said = saidOf(answer, row);
          expect(said).toBe(saidOf(await send(ask, route, inputWith(route, member, none)), none));
          expect(said).not.toMatch(/cleo|dora/);
          if (!ACCEPTS_ANY.has(name))
            expect(member === "assignee" ? [400, 403] : [403, 404]).toContain(answer.status);
        }
    });
    expect(changed).toEqual(name === "mcp.called" ? ["audit_event"] : []);
  },
);
