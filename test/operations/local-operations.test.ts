import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LOCAL_OPERATIONS } from "../../src/api/all-operations.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import type { Role } from "../../src/operations/access.ts";
import type { Actor } from "../../src/operations/actor.ts";
import type { Operation } from "../../src/operations/operation.ts";
import { insertPasskeyRow } from "../../src/sessions/passkey-store.ts";
import { insertTokenRow } from "../../src/tokens/token-store.ts";
import { makeTokenText } from "../../src/tokens/token.ts";
import { storeInvitation } from "../../src/workspaces/invitation-store.ts";
import { storeMember, type Membership } from "../../src/workspaces/member-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { contentOf } from "../support/database-content.ts";
import { NOON } from "../support/fake-clock.ts";
import { EDITOR, OWNER, READER } from "../support/members.ts";
import { roleTable } from "../support/role-table.ts";
import { performOn } from "../support/terminal.ts";
import { launchServer, type TestServer } from "../support/test-server.ts";

/*
 * Every operation without an address of the API, tried by each role on rows of a workspace and of another account. Those with an address
 * are tried in test/api/roles.test.ts. What would be done is undone at the end of its transaction.
 */

const ROLES: readonly (Role | null)[] = ["operator", "owner", "editor", "reader", null];
const nameOf = (role: Role | null): string => role ?? "stranger";
const MEMBERSHIPS: Partial<Record<Role, Membership>> = { owner: OWNER, editor: EDITOR, reader: READER };

/** Of oneself alone: their inputs name no row that could be somebody else's. */
const WITHOUT_TARGET = new Set(["password", "new_password", "secret", "code", "name", "cookie", "response"]);

const table = roleTable(ROLES.map(nameOf));
const actors = new Map<Role | null, Actor>();
const inputs: Record<string, Record<string, unknown>> = {};
let server: TestServer;
let db: SqliteDatabase;

beforeAll(async () => {
  server = await launchServer();
  db = server.owner;
  const made = (email: string) => db.now(() => insertAccountRows(email, NOON));
  const { account: operator, workspace: elsewhere } = made("operator@example.com");
  const { account: victim, workspace } = made("victim@example.com");
  db.execute(`INSERT INTO session (id, account_id, secret_hash, created_at, seen_at, user_agent)
    VALUES ('ses_${operator.id}', '${operator.id}', x'00', ${NOON}, ${NOON}, '')`);
  actors.set("operator", {
    kind: "account",
    accountId: operator.id,
    email: operator.email,
    isOperator: true,
  });
  for (const role of ROLES.slice(1)) {
    const { id: accountId, email } = made(`${nameOf(role)}@example.com`).account;
    const membership = role === null ? undefined : MEMBERSHIPS[role];
    if (membership !== undefined) {
      const place = { workspaceId: workspace.id, accountId };
      db.now(() => storeMember(place, membership, { since: NOON, byAccountId: null }));
    }
    db.execute(`INSERT INTO session (id, account_id, secret_hash, created_at, seen_at, user_agent)
      VALUES ('ses_${accountId}', '${accountId}', x'00', ${NOON}, ${NOON}, '')`);
    actors.set(role, { kind: "account", accountId, email, isOperator: false });
  }
  const key = { credentialId: "AAAA", host: "forms.example.com", publicKey: Buffer.alloc(1), counter: 0 };
  const passkey = db.now(() => insertPasskeyRow(victim.id, key, "Laptop", NOON));
  db.execute(`INSERT INTO oidc_binding VALUES ('https://id.example.com', 'victim', '${victim.id}', 1)`);
  db.execute(`INSERT INTO session (id, account_id, secret_hash, created_at, seen_at, user_agent)
    VALUES ('ses_01h455vb4pex5vsknk084sn02q', '${victim.id}', x'00', ${NOON}, ${NOON}, '')`);
  const bound = { accountId: null, workspaceId: workspace.id, endpointId: null, expiresAt: null };
  const token = db.now(() =>
    insertTokenRow({ ...bound, name: "CI", scopes: ["submissions:read"] }, makeTokenText(), NOON),
  );
  const asked = { email: victim.email, byAccountId: null, isByOperator: true, madeAt: NOON };
  const invitation = db.now(() => storeInvitation({ ...asked, workspaceId: elsewhere.id }, READER));
  const letter = { recipient: "rcpt_01h455vb4pex5vsknk084sn02q", token: "A".repeat(43) };
  Object.assign(inputs, {
    "account.sign-in-link": { account: victim.email },
    "account.reset-totp": { account: victim.email },
    "account.unbind": { account: victim.email },
    "account.end-own-sessions": { session: "ses_01h455vb4pex5vsknk084sn02q" },
    "account.rename-passkey": { passkey, name: "Mine" },
    "account.remove-passkey": { passkey, password: "" },
    "member.leave": { workspace: workspace.id },
    "member.accept": { invitation },
    "member.decline": { invitation },
    "recipient.confirm": letter,
    "recipient.unsubscribe": letter,
    "login.approve": { code: "BCDF-GHJK", scopes: ["submissions:read"] },
    "login.deny": { code: "BCDF-GHJK" },
    "token.create": { workspace: workspace.id, name: "CI", scopes: ["submissions:read"] },
    "token.list": {},
    "token.revoke": { token: token.id },
  });
});
afterAll(async () => {
  table.print("Operations without an address, by each role:");
  await server.stop();
});

class Undone extends Error {}

/** What comes of an operation; nothing stays of it. */
async function answerTo(operation: Operation, actor: Actor): Promise<string> {
  const viewer = actor.kind === "account" ? { ...actor, sessionId: `ses_${actor.accountId}` } : null;
  // Without passwords, whoever has just signed in has proved who they are.
  const parts = { viewer, party: null, passwords: "off" };
  try {
    const output = await performOn(db, operation, inputs[operation.name] ?? {}, {
      actor,
      parts,
      // oxlint-disable-next-line require-yield
      *onOutcome(outcome) {
        throw new Undone(JSON.stringify(outcome));
      },
    });
    return seen(output);
  } catch (error) {
    if (error instanceof Undone) return seen(JSON.parse(error.message));
    if (error instanceof FormsvcError) return error.code;
    throw error;
  }
}

/** Something was done or shown, or there was nothing for whoever asked. */
function seen(output: unknown): string {
  const isNothing = /^(?:\{"data":\[\]\}|\{"ended":0\})$/.test(JSON.stringify(output));
  return isNothing ? "nothing" : "may";
}

const OWNERS = {
  operator: "may",
  owner: "may",
  editor: "forbidden",
  reader: "forbidden",
  stranger: "not_found",
};
const OPERATORS = {
  operator: "may",
  owner: "forbidden",
  editor: "forbidden",
  reader: "forbidden",
  stranger: "forbidden",
};
const everybody = (answer: string) => Object.fromEntries(ROLES.map((role) => [nameOf(role), answer]));

const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "account.sign-in-link": OPERATORS,
  "account.reset-totp": OPERATORS,
  "account.unbind": OPERATORS,
  // Somebody else's session, passkey, invitation and login are like none, for operators too.
  "account.end-own-sessions": everybody("nothing"),
  "account.rename-passkey": everybody("not_found"),
  "account.remove-passkey": everybody("not_found"),
  "member.accept": everybody("not_found"),
  "member.decline": everybody("not_found"),
  "recipient.confirm": everybody("not_found"),
  "recipient.unsubscribe": everybody("not_found"),
  "login.approve": everybody("not_found"),
  "login.deny": everybody("not_found"),
  "member.leave": { ...everybody("may"), operator: "usage", stranger: "not_found" },
  "token.create": OWNERS,
  "token.list": { operator: "may", owner: "may", editor: "nothing", reader: "nothing", stranger: "nothing" },
  "token.revoke": { ...OWNERS, editor: "not_found", reader: "not_found" },
};

describe.each(LOCAL_OPERATIONS.filter(({ name }) => name in EXPECTED))("$name", (operation) => {
  test.each(ROLES.map((role) => ({ role, name: nameOf(role) })))(
    "answers the $name as the table says, and changes nothing that is not theirs",
    async ({ role, name }) => {
      const before = await contentOf(db);
      const answer = await answerTo(operation as Operation, actors.get(role) as Actor);
      table.note(operation.name, name, answer);
      expect(answer).toBe(EXPECTED[operation.name]?.[name]);
      expect(await contentOf(db)).toEqual(before);
    },
  );
});

test("every other operation without an address is about oneself alone: it can name nobody and nothing else", () => {
  const others = LOCAL_OPERATIONS.filter(
    ({ name, access }) => !(name in EXPECTED) && access === "own-account",
  );
  for (const { name, input } of others) {
    const foreign = Object.keys(input.shape).filter((member) => !WITHOUT_TARGET.has(member));
    expect(foreign, name).toEqual([]);
    for (const role of ROLES) table.note(name, nameOf(role), "own");
  }
  const tried = new Set([...Object.keys(EXPECTED), ...others.map(({ name }) => name)]);
  expect(LOCAL_OPERATIONS.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
});
