import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { storePassword, storeRecoveryCodes, storeTotp } from "../../src/sessions/credential-store.ts";
import { admitPerson } from "../../src/sessions/oidc-sign-in.ts";
import { insertPasskeyRow } from "../../src/sessions/passkey-store.ts";
import { findNamedViewer, startSession } from "../../src/sessions/session.ts";
import { checkDoubtfulAccounts } from "../../src/workspaces/doubt-health.ts";
import { vouchForAccount } from "../../src/sessions/vouch-operation.ts";
import { addLoginRequest, decideLoginRow } from "../../src/tokens/login-store.ts";
import { insertTokenRow } from "../../src/tokens/token-store.ts";
import { makeTokenText } from "../../src/tokens/token.ts";
import { renameAccount, showAccount } from "../../src/workspaces/account-operations.ts";
import { listOwnInvitations, storeInvitation } from "../../src/workspaces/invitation-store.ts";
import { isOwnProvedAddress, noteDoubt, noteEmailProved } from "../../src/workspaces/proved-email.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { READER } from "../support/members.ts";
import { performOn } from "../support/terminal.ts";

const VICTIM = "victim@example.org";
const OTHER = "other@example.org";
const PERSON = { subject: "v", email: VICTIM, isInOperatorGroup: false, gaveSecondFactor: false };
const ISSUER = {
  settings: {
    issuer: "https://login.example.com",
    clientId: "forms",
    clientSecret: "secret",
    label: "Example ID",
    allowedDomains: [],
    createAccounts: false,
    groupsClaim: "groups",
    operatorGroup: null,
    trustSecondFactor: false,
  },
  newWorkspacePlan: "hobby",
};

/** Every way in that an account can have from before: sign-in, browser, programs. Returns its id and its workspace's. */
function furnished(db: Database, email: string) {
  return db.transaction(function* () {
    const { account, workspace } = yield* insertAccountRows(email, NOON);
    const { id } = account;
    yield* storePassword(id, "hash", NOON);
    yield* storeTotp(id, Buffer.from("secret"), 1, NOON);
    yield* storeRecoveryCodes(id, [Buffer.from(email)]);
    const credentialId = Buffer.from(email).toString("base64url");
    const key = { credentialId, host: "forms.example.com", publicKey: Buffer.alloc(1), counter: 0 };
    yield* insertPasskeyRow(id, key, "Laptop", NOON);
    yield* startSession(id, { userAgent: "Firefox", ipAddress: null }, NOON);
    const made = { name: "CI", scopes: ["submissions:read"], endpointId: null, expiresAt: null } as const;
    const own = { ...made, accountId: id, workspaceId: null };
    yield* insertTokenRow(own, makeTokenText(), NOON);
    yield* insertTokenRow({ ...made, accountId: null, workspaceId: workspace.id }, makeTokenText(), NOON);
    const asked = { clientName: email, clientAddress: email, scopes: made.scopes };
    const { userCode } = yield* addLoginRequest(asked, NOON);
    yield* decideLoginRow(userCode, id, made.scopes);
    return { id, workspaceId: workspace.id };
  });
}

async function waysIn(db: Database, id: string) {
  const counts: Record<string, number> = {};
  for (const table of ["credential", "recovery_code", "passkey", "session", "login_request"])
    counts[table] = (await rowsOf(db, `SELECT 1 FROM ${table} WHERE account_id = '${id}'`)).length;
  const working = `SELECT 1 FROM api_token WHERE account_id = '${id}' AND revoked_at IS NULL`;
  return { ...counts, tokens: (await rowsOf(db, working)).length };
}

const ALL_WAYS = { credential: 1, recovery_code: 1, passkey: 1, session: 1, login_request: 1, tokens: 1 };
const NO_WAY = { credential: 0, recovery_code: 0, passkey: 0, session: 0, login_request: 0, tokens: 0 };

describe.each(ENGINES)("an account whose address is in doubt on $name", ({ temporary }) => {
  /** An operator, an account in doubt that somebody is invited to, and one that is not in doubt. */
  async function world() {
    const db = await temporary();
    const root = await db.transaction(() => insertAccountRows("root@example.com", NOON));
    const victim = await furnished(db, VICTIM);
    const other = await furnished(db, OTHER);
    await db.transaction(function* () {
      yield* noteDoubt(victim.id);
      const invitation = { email: VICTIM, byAccountId: null, isByOperator: true, madeAt: NOON };
      yield* storeInvitation({ ...invitation, workspaceId: root.workspace.id }, READER);
    });
    const named = () => db.read(() => findNamedViewer("Victim@Example.ORG", NOON));
    const vouch = (account = VICTIM) => performOn(db, vouchForAccount, { account });
    return { db, victim, other, named, vouch };
  }

  test("is believed of no proxy and no issuer and finds no invitation, until an operator vouches for it", async () => {
    const { db, victim, named, vouch } = await world();
    const admit = () => db.transaction(() => admitPerson(ISSUER, PERSON, NOON));
    const invited = () => db.read(() => listOwnInvitations(victim.id, NOON));
    expect(await named()).toBeUndefined();
    await expect(admit()).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("Ask whoever runs this server to vouch for the address.") as string,
    });
    expect(await invited()).toEqual([]);
    const shown = () => performOn(db, showAccount, { account: VICTIM });
    expect((await shown()).account.is_doubtful).toBe(true);
    expect((await vouch()).account).toMatchObject({ id: victim.id, email: VICTIM, is_doubtful: false });
    expect((await shown()).account.is_doubtful).toBe(false);
    expect(await named()).toMatchObject({ accountId: victim.id });
    expect(await admit()).toBe(victim.id);
    expect(await invited()).toHaveLength(1);
  });

  test("loses with that everything by which whoever made it got in, and nothing else", async () => {
    const { db, victim, other, vouch } = await world();
    expect(await waysIn(db, victim.id)).toEqual(ALL_WAYS);
    await vouch();
    expect(await waysIn(db, victim.id)).toEqual(NO_WAY);
    expect(await waysIn(db, other.id)).toEqual(ALL_WAYS);
    const service = `SELECT revoked_at FROM api_token WHERE workspace_id = '${victim.workspaceId}'`;
    expect(await rowsOf(db, service)).toEqual([{ revoked_at: null }]);
    expect(await rowsOf(db, "SELECT action, subject FROM audit_event")).toEqual([
      { action: "account.vouch", subject: VICTIM },
    ]);
    // Vouching is a word for the address; that its holder reads its mail is another thing.
    expect(await db.read(() => isOwnProvedAddress(victim.id, VICTIM))).toBe(false);
  });

  test("is vouched for once: what nobody doubts is refused, and nothing of it ends", async () => {
    const { db, other, vouch } = await world();
    await vouch();
    await expect(vouch()).rejects.toMatchObject({ code: "conflict" });
    await expect(vouch(OTHER)).rejects.toMatchObject({ code: "conflict" });
    await expect(vouch("nobody@example.org")).rejects.toMatchObject({ code: "not_found" });
    expect(await waysIn(db, other.id)).toEqual(ALL_WAYS);
  });

  test("is counted among the findings as long as a proxy, or an issuer alone, should sign its holder in", async () => {
    const { db, victim, vouch } = await world();
    const found = (name: string | null, issuer: string | null, passwords: "on" | "off") => {
      const settings = { dashboard: { passwords, trustedUserHeader: { name } }, oidc: { issuer } };
      return db.read(() => checkDoubtfulAccounts(settings));
    };
    const issuer = "https://login.example.com";
    expect([await found(null, null, "on"), await found(null, issuer, "on")]).toEqual([[], []]);
    const doubted = (ways: string) => ({
      ok: false,
      message: `1 account cannot sign in by ${ways}, because nobody has proved the address`,
      advice: { kind: "vouch_for_accounts" },
    });
    expect(await found("Remote-Email", null, "on")).toMatchObject([doubted("dashboard.trustedUserHeader")]);
    expect(await found(null, issuer, "off")).toMatchObject([doubted("oidc")]);
    const both = "dashboard.trustedUserHeader and oidc";
    expect(await found("Remote-Email", issuer, "off")).toMatchObject([doubted(both)]);
    await vouch();
    expect(await found("Remote-Email", issuer, "off")).toMatchObject([{ ok: true }]);
    await db.transaction(function* () {
      yield* noteDoubt(victim.id);
      yield* noteEmailProved(victim.id, NOON);
    });
    expect(await found("Remote-Email", issuer, "off")).toMatchObject([{ ok: true }]);
  });

  test("stays in doubt under another address, and one whose address was proved does not come into doubt by a new one", async () => {
    const { db, victim, other } = await world();
    const rename = (account: string, email: string) => performOn(db, renameAccount, { account, email });
    expect((await rename(victim.id, "v@example.org")).account.is_doubtful).toBe(true);
    expect(await db.read(() => findNamedViewer("v@example.org", NOON))).toBeUndefined();
    await db.transaction(function* () {
      yield* noteDoubt(other.id);
      yield* noteEmailProved(other.id, NOON);
    });
    expect((await rename(other.id, "o@example.org")).account.is_doubtful).toBe(false);
    expect(await db.read(() => findNamedViewer("o@example.org", NOON))).toMatchObject({
      accountId: other.id,
    });
  });
});
