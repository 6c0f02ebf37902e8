import { describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import { admitPerson, type Admission } from "../../src/sessions/oidc-sign-in.ts";
import type { Person } from "../../src/sessions/oidc-person.ts";
import { dropBindings, findBoundAccount, isBound } from "../../src/sessions/oidc-store.ts";
import { setAccount } from "../../src/workspaces/account-operations.ts";
import { listOwnInvitations, storeInvitation } from "../../src/workspaces/invitation-store.ts";
import { noteDoubt, noteEmailProved } from "../../src/workspaces/proved-email.ts";
import { updateEmailRow } from "../../src/workspaces/rename.ts";
import {
  findAccount,
  getAccount,
  insertAccountRows,
  listWorkspaces,
} from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { READER } from "../support/members.ts";
import { hasPostgresql, openForTest, temporaryAddress } from "../support/temporary-postgresql.ts";
import { performOn } from "../support/terminal.ts";

const ISSUER = "https://login.example.com";
const ana: Person = {
  subject: "ana",
  email: "ana@example.org",
  isInOperatorGroup: false,
  gaveSecondFactor: false,
};

const admissionOf = (over: Partial<Admission["settings"]> = {}): Admission => ({
  settings: {
    issuer: ISSUER,
    clientId: "forms",
    clientSecret: "secret",
    label: "Example ID",
    allowedDomains: [],
    createAccounts: false,
    groupsClaim: "groups",
    operatorGroup: null,
    trustSecondFactor: false,
    ...over,
  },
  newWorkspacePlan: "hobby",
});

const add = (db: Database, email: string) =>
  db.transaction(function* () {
    return (yield* insertAccountRows(email, NOON)).account.id;
  });
const admit = (db: Database, person: Person, admission = admissionOf()) =>
  db.transaction(() => admitPerson(admission, person, NOON));

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("two browsers of one person bind one account once", async () => {
    const db = await temporary();
    const id = await add(db, ana.email);
    expect(await Promise.all([admit(db, ana), admit(db, ana), admit(db, ana)])).toEqual([id, id, id]);
    expect(await rowsOf(db, "SELECT issuer, subject, account_id FROM oidc_binding")).toEqual([
      { issuer: ISSUER, subject: "ana", account_id: id },
    ]);
  });

  test("of two subjects with one address, one gets the account and the other is refused", async () => {
    const db = await temporary();
    await add(db, ana.email);
    const outcomes = await Promise.allSettled([admit(db, ana), admit(db, { ...ana, subject: "not ana" })]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "unauthorized" },
    });
  });

  test("the first sign-in makes one account, for who is let in or was invited, and never the first of all", async () => {
    const db = await temporary();
    const open = admissionOf({ createAccounts: true });
    await expect(admit(db, ana, open)).rejects.toMatchObject({ code: "unavailable" });
    await add(db, "root@example.com");
    await expect(admit(db, ana)).rejects.toMatchObject({ code: "unauthorized" });
    const [one, two] = await Promise.all([admit(db, ana, open), admit(db, ana, open)]);
    expect(one).toBe(two);
    const bo = { ...ana, subject: "bo", email: "bo@example.org" };
    await expect(admit(db, bo)).rejects.toMatchObject({ code: "unauthorized" });
    await db.transaction(function* () {
      const [workspace] = yield* listWorkspaces();
      const invitation = { email: "Bo@Example.org", byAccountId: null, isByOperator: true, madeAt: NOON };
      yield* storeInvitation({ ...invitation, workspaceId: workspace?.id ?? "" }, READER);
    });
    const invited = await admit(db, bo);
    expect(await db.read(() => findAccount(invited))).toMatchObject({ email: bo.email, isOperator: false });
  });

  test("an account that a stranger may have made under the address is not handed over with what they know of it", async () => {
    const db = await temporary();
    const id = await add(db, ana.email);
    await db.transaction(() => noteDoubt(id));
    await expect(admit(db, ana)).rejects.toMatchObject({ code: "unauthorized" });
    await db.transaction(() => noteEmailProved(id, NOON));
    expect(await admit(db, ana)).toBe(id);
  });

  test("another issuer knows the same account by a subject of its own", async () => {
    const db = await temporary();
    const id = await add(db, ana.email);
    await admit(db, ana);
    const other = admissionOf({ issuer: "https://other.example" });
    expect(await admit(db, { ...ana, subject: "4711" }, other)).toBe(id);
    expect(await db.transaction(() => dropBindings(id))).toEqual([ISSUER, "https://other.example"]);
    expect(await db.read(() => isBound(id, null))).toBe(false);
    expect(await db.read(() => findBoundAccount({ issuer: ISSUER, subject: "ana" }))).toBeUndefined();
  });

  test("an operator whom somebody made after the group did stays one", async () => {
    const db = await temporary();
    await add(db, "root@example.com");
    const id = await add(db, ana.email);
    const group = admissionOf({ operatorGroup: "admins" });
    await admit(db, { ...ana, isInOperatorGroup: true }, group);
    await performOn(db, setAccount, { account: id, is_operator: true }, { now: NOON });
    await admit(db, ana, group);
    expect(await db.read(() => findAccount(id))).toMatchObject({ isOperator: true });
  });
});

/** A database whose `lower` knows all letters, as in most installations of PostgreSQL. */
async function worldlyPostgresql(): Promise<Database> {
  const db = await openForTest(await temporaryAddress("TEMPLATE template0 LOCALE 'C.UTF-8'"));
  await migratePostgresql(db);
  return db;
}

const worldly = [
  ...ENGINES,
  ...(hasPostgresql ? [{ name: "PostgreSQL with all letters", temporary: worldlyPostgresql }] : []),
];

// The domain of `İ` is another one than that of `i`, and its owner may get the letter by which an issuer checks an address.
test.each(worldly)(
  "on $name, an address with other letters that look alike in small gets no account and no invitation of another",
  async ({ temporary }) => {
    const db = await temporary();
    await add(db, "first@example.org");
    const id = await add(db, "kim@victim.example");
    const workspace = (await db.read(() => listWorkspaces()))[0]?.id ?? "";
    const invitation = { workspaceId: workspace, byAccountId: null, isByOperator: true, madeAt: NOON };
    await db.transaction(() => storeInvitation({ ...invitation, email: "new@victim.example" }, READER));
    const open = admissionOf({ createAccounts: true });
    for (const email of ["kim@victİm.example", "\u212Aim@victim.example", "new@victİm.example"]) {
      const stranger = { ...ana, subject: email, email };
      await expect(admit(db, stranger)).rejects.toMatchObject({ code: "unauthorized" });
      const made = await admit(db, stranger, open).catch(({ code }: { code: string }) => code);
      expect(made).not.toBe(id);
      const own = await db.read(() => listOwnInvitations(made, NOON));
      expect(own).toEqual([]);
    }
    const holder = { ...ana, email: "Kim@Victim.example" };
    expect(await admit(db, holder)).toBe(id);
    const renamed = await db
      .transaction(function* () {
        const other = yield* updateEmailRow(yield* getAccount("first@example.org"), "kim@victİm.example");
        return other.email;
      })
      .catch(({ code }: { code: string }) => code);
    expect(["kim@victİm.example", "already_exists"]).toContain(renamed);
  },
);
