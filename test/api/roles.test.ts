import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import { listEndpointKeys } from "../../src/endpoints/key-operations.ts";
import { newId } from "../../src/foundation/id.ts";
import { createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { includesRole, type Role, ruleOf, SCOPES } from "../../src/operations/access.ts";
import type { Membership } from "../../src/workspaces/member-store.ts";
import { needsWhole } from "../../src/workspaces/standing.ts";
import { addWebhooks } from "../support/add-webhooks.ts";
import { type Ask, askWith, makeToken } from "../support/api-client.ts";
import { contentOf } from "../support/database-content.ts";
import { addMember, EDITOR, OWNER, READER } from "../support/members.ts";
import { addFile } from "../support/owner-home.ts";
import { roleTable } from "../support/role-table.ts";
import { performOn } from "../support/terminal.ts";
import { goodPost, launchServer, type TestServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

/*
 * Every operation that has an address, tried by every role on rows of a workspace. The expected answer follows from the table of access.
 * Each request has a member that no operation knows, so that what is allowed ends with 400 and changes nothing.
 */

/** Somebody, and what of the workspace they see. */
interface Person {
  readonly name: string;
  /** Null sees nothing of it. */
  readonly role: Role | null;
  /** Whether they are bound: to the form that the paths name, or to another. */
  readonly bound: "no" | "to it" | "to another";
  readonly mayExport: boolean;
}

const PEOPLE: readonly Person[] = [
  { name: "operator", role: "operator", bound: "no", mayExport: true },
  { name: "owner", role: "owner", bound: "no", mayExport: true },
  { name: "editor", role: "editor", bound: "no", mayExport: true },
  { name: "editor of two forms", role: "editor", bound: "to it", mayExport: true },
  { name: "editor of another form", role: "editor", bound: "to another", mayExport: true },
  { name: "reader", role: "reader", bound: "no", mayExport: true },
  { name: "reader of two forms", role: "reader", bound: "to it", mayExport: true },
  { name: "reader without export", role: "reader", bound: "no", mayExport: false },
  { name: "stranger", role: null, bound: "no", mayExport: true },
];

const table = roleTable(PEOPLE.map(({ name }) => name));
let server: TestServer;
let names: Readonly<Record<string, string>>;
const asks = new Map<string, Ask>();

beforeAll(async () => {
  server = await launchServer({ rateLimit: { token: { max: null, windowSeconds: 60 } } });
  const operator = await visit(server, "operator@example.com");
  const { id: endpoint, workspaceId: workspace, secret } = await server.addEndpoint();
  const [{ id: second }, { id: another }] = [await server.addEndpoint(), await server.addEndpoint()];
  await server.post(secret, goodPost);
  await server.post(secret, { ...goodPost, _gotcha: "x" });
  const one = (sql: string) => String(server.owner.prepare(sql).pluck().get());
  const [submission, held] = [one("SELECT id FROM submission"), one("SELECT id FROM held")];
  server.owner.now(() => addWebhooks(endpoint, "http://127.0.0.1:9", 1));
  const webhook = one("SELECT id FROM webhook");
  const parts = { parts: { storedLetters: null } };
  const made = await performOn(
    server.owner,
    createRecipient,
    { endpoint, address: "office@example.org" },
    parts,
  );
  // They have ended now: the clean-up, which runs while the tests do, would delete older ones.
  const deliveries = [newId("msg", 1), newId("msg", 2)] as const;
  server.owner
    .execute(`INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, finished_at) VALUES
    ('${deliveries[0]}', '${submission}', '${webhook}', 'delivered', 1, ${server.clock.now()}),
    ('${deliveries[1]}', '${submission}', '${made.recipient.id}', 'delivered', 1, ${server.clock.now()})`);
  const keys = await performOn(server.owner, listEndpointKeys, { endpoint });
  const binding: Readonly<Record<Person["bound"], readonly string[] | null>> = {
    no: null,
    "to it": [endpoint, second],
    "to another": [another],
  };
  const memberships: Partial<Record<Role, Membership>> = { owner: OWNER, editor: EDITOR, reader: READER };
  for (const { name, role, bound, mayExport } of PEOPLE) {
    const email = `${name.replaceAll(" ", ".")}@example.com`;
    const membership = role === null ? undefined : memberships[role];
    if (membership !== undefined)
      await addMember(server.owner, workspace, email, {
        ...membership,
        endpoints: binding[bound],
        mayExport,
      });
    else await visit(server, email);
    asks.set(
      name,
      askWith(
        server,
        await makeToken(
          server,
          SCOPES.filter((scope) => role === "operator" || scope !== "operator"),
          { account: email },
        ),
      ),
    );
  }
  names = {
    "webhook-deliveries": deliveries[0],
    "mail-deliveries": deliveries[1],
    recipient: made.recipient.id,
    endpoint,
    workspace,
    submission,
    file: addFile(server, endpoint, submission),
    held,
    webhook,
    key: keys.data[0]?.id ?? "",
    account: operator.accountId,
    email: "editor@example.com",
  };
});
afterAll(async () => {
  table.print("Operations with an address, by each role:");
  await server.stop();
});

function pathOf(path: string): string {
  return path.replace(/:(\w+)/g, (_match, name: string) => {
    const value = names[name] ?? names[path.split("/")[1] ?? ""];
    if (value === undefined) throw new Error(`add a row that ${path} can name: ${name}`);
    return value;
  });
}

/** What a role is answered, by the table of access alone. */
function expectedOf(
  { role, bound, mayExport }: Person,
  { operation, path }: (typeof ROUTES)[number],
): number {
  const { access } = operation;
  const needed = ruleOf(access).role;
  if (needed === null) return 400;
  if (needed === "operator") return role === "operator" ? 400 : 403;
  // Without a row in its path, everybody has a workspace of their own in which they may.
  if (!path.includes(":")) return 400;
  if (role === null) return 404;
  const isOfWorkspace = path.startsWith("/workspaces/");
  if (bound === "to another" && !isOfWorkspace) return 404;
  if (!includesRole(role, needed)) return 403;
  if (access === "submissions:export" && !mayExport) return 403;
  if (bound !== "no" && isOfWorkspace && needsWhole(access)) return 403;
  return 400;
}

describe.each(ROUTES.filter(({ path }) => path !== "/token"))("$operation.name ($method $path)", (route) => {
  test.each(PEOPLE)("answers the $name as the table of access says", async (person) => {
    const { method, path, operation } = route;
    const before = await contentOf(server.owner);
    const probe = method === "GET" || method === "DELETE" ? { query: "zzz=1" } : { body: { zzz: 1 } };
    const answer = await (asks.get(person.name) as Ask)(method, pathOf(path), probe);
    table.note(
      `${operation.name} ${method} ${path}`,
      person.name,
      answer.status === 400 ? "may" : String(answer.status),
    );
    expect([answer.status, answer.json["message"]].join(" ")).toMatch(
      new RegExp(`^${expectedOf(person, route)} `),
    );
    const isByRole = answer.status === 403 && ruleOf(operation.access).role !== "operator";
    if (isByRole) expect(answer.json["message"]).toContain(`the role ${person.role} `);
    expect({ ...(await contentOf(server.owner)), api_token: null }).toEqual({ ...before, api_token: null });
  });
});
