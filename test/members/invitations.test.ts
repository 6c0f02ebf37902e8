import { describe, expect, test } from "vitest";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import { run, text } from "../../src/database/steps.ts";
import { moveEndpoint } from "../../src/endpoints/move-endpoint.ts";
import { createInvitationLinks } from "../../src/mail/recipients/ask-invited.ts";
import {
  acceptInvitation,
  declineInvitation,
  type InvitationParts,
  inviteMember,
} from "../../src/members/invitation-operations.ts";
import {
  leaveWorkspace,
  listWorkspaceMembers,
  removeWorkspaceMember,
  setMember,
  showMember,
} from "../../src/members/member-operations.ts";
import type { Actor } from "../../src/operations/actor.ts";
import {
  dropOldInvitations,
  findInvitationOf,
  INVITATION_LIFETIME_MS,
  storeInvitation,
  listOwnInvitations,
} from "../../src/workspaces/invitation-store.ts";
import { MAX_MEMBERS, storeMember } from "../../src/workspaces/member-store.ts";
import { noteDoubt, noteEmailProved } from "../../src/workspaces/proved-email.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { createFakeClock, NOON } from "../support/fake-clock.ts";
import { OWNER, READER, withMembers } from "../support/members.ts";
import { performOn } from "../support/terminal.ts";
import { DAY_MS } from "../../src/foundation/time-units.ts";

const GUEST = "guest@example.org";
const URL_BASE = "https://forms.example.com/dashboard";
const withoutMail: InvitationParts = { storedLetters: null, dashboardUrl: null };
const withMail: InvitationParts = { storedLetters: null, dashboardUrl: URL_BASE };
const mailConfig = { ...defaultConfig, mail: { ...defaultConfig.mail, host: "127.0.0.1" } };
const notFound = { code: "not_found" };

type Doing = { readonly actor?: Actor; readonly now?: number };

function invite(db: Database, workspace: string, more: object = {}, doing: Doing = {}) {
  const input = { workspace, email: GUEST, role: "reader" as const, ...more };
  return performOn(db, inviteMember, input, { parts: withoutMail, ...doing });
}

function inviteByMail(db: Database, workspace: string, more: object = {}, doing: Doing = {}) {
  const input = { workspace, email: GUEST, role: "reader" as const, ...more };
  return performOn(db, inviteMember, input, { parts: withMail, config: mailConfig, ...doing });
}

const tokenOf = (url: string | null): string => url?.split("#")[1] ?? "";
const isGood = async (db: Database, token: string, now = NOON) =>
  (await db.read(() => findInvitationOf(token, now))) !== undefined;

/** Ben's workspace with its members; Cleo, who is a stranger there, is somebody to invite. */
async function world(db: Database) {
  const made = await withMembers(db);
  const cleo: Actor = { kind: "account", ...made.cleo.identity };
  const { email: cleoEmail, accountId: cleoId } = made.cleo.identity;
  return { ...made, cleo, cleoEmail, cleoId, cleoWorkspace: made.cleo.workspace.id };
}

describe.each(ENGINES)("invitations on $name", ({ temporary }) => {
  test("are listed with the members, tell what they offer, and are withdrawn like a member is removed", async () => {
    const db = await temporary();
    const { workspace, shop, owner: actor } = await world(db);
    const more = { endpoints: ["Shop"], export: false, spam_details: false };
    const made = await invite(db, workspace, more, { actor });
    expect(made.invitation).toEqual({
      id: expect.stringMatching(/^inv_/) as string,
      email: GUEST,
      role: "reader",
      workspace_id: workspace,
      endpoints: [shop.endpoint],
      export: false,
      spam_details: false,
      expires_at: new Date(NOON + 7 * DAY_MS).toISOString(),
    });
    expect(made.url).toMatch(/^http:\/\/127\.0\.0\.1:8787\/dashboard\/invitation#[\w-]{32}$/);
    const { data } = await performOn(db, listWorkspaceMembers, { workspace }, { actor });
    const invited = {
      account_id: null,
      email: GUEST,
      role: "reader",
      endpoints: [shop.endpoint],
      export: false,
      spam_details: false,
      state: "invited",
      since: new Date(NOON).toISOString(),
      by: "owner@example.com",
    };
    expect(data.at(-1)).toEqual(invited);
    const shown = await performOn(db, showMember, { workspace, email: "GUEST@example.org" }, { actor });
    expect(shown.member).toEqual(invited);
    await expect(performOn(db, setMember, { workspace, email: GUEST, role: "owner" })).rejects.toMatchObject({
      code: "conflict",
    });
    const removed = await performOn(db, removeWorkspaceMember, { workspace, email: GUEST }, { actor });
    expect(removed.member).toEqual(invited);
    expect(await isGood(db, tokenOf(made.url))).toBe(false);
    const again = performOn(db, removeWorkspaceMember, { workspace, email: GUEST }, { actor });
    await expect(again).rejects.toMatchObject(notFound);
    const changes = await rowsOf<{ action: string }>(db, "SELECT action FROM audit_event ORDER BY id");
    expect(changes.map(({ action }) => action)).toEqual(["member.invite", "member.withdraw"]);
  });

  test("an account finds its own, in whatever case, and becomes what was offered by accepting it once", async () => {
    const db = await temporary();
    const { workspace, shop, cleo: actor, cleoEmail } = await world(db);
    const { invitation } = await invite(db, workspace, {
      email: cleoEmail.toUpperCase(),
      role: "editor",
      endpoints: ["Shop"],
    });
    const accept = () => performOn(db, acceptInvitation, { invitation: invitation.id }, { actor });
    expect((await accept()).invitation).toEqual(invitation);
    const { member } = await performOn(db, showMember, { workspace, email: cleoEmail });
    expect(member).toMatchObject({ role: "editor", endpoints: [shop.endpoint], state: "member" });
    await expect(accept()).rejects.toMatchObject(notFound);
    const decline = performOn(db, declineInvitation, { invitation: invitation.id }, { actor });
    await expect(decline).rejects.toMatchObject(notFound);
  });

  test("of one invitation that is accepted on two servers at once, one ends as not found, and there is one member", async () => {
    const db = await temporary();
    const { workspace, cleo: actor, cleoEmail } = await world(db);
    const { invitation } = await invite(db, workspace, { email: cleoEmail });
    const accept = () => performOn(db, acceptInvitation, { invitation: invitation.id }, { actor });
    const ended = await Promise.allSettled([accept(), accept(), accept()]);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const rows = await rowsOf<{ count: number }>(
      db,
      `SELECT count(*) AS count FROM member JOIN account ON id = account_id
       WHERE member.workspace_id = '${workspace}' AND email = '${cleoEmail}'`,
    );
    expect(Number(rows[0]?.count)).toBe(1);
  });

  test("nobody else accepts one: neither with its id, nor with its link", async () => {
    const db = await temporary();
    const { workspace, reader, cleo } = await world(db);
    const { invitation, url } = await invite(db, workspace);
    for (const actor of [reader, cleo])
      for (const token of ["", tokenOf(url)])
        for (const operation of [acceptInvitation, declineInvitation])
          await expect(
            performOn(db, operation, { invitation: invitation.id, token }, { actor }),
          ).rejects.toMatchObject(notFound);
    expect(await isGood(db, tokenOf(url))).toBe(true);
  });

  test("end after 7 days, by the link and under Invitations, and their rows go", async () => {
    const db = await temporary();
    const { workspace, cleo: actor, cleoEmail, cleoId } = await world(db);
    const { invitation, url } = await invite(db, workspace, { email: cleoEmail });
    const late = NOON + INVITATION_LIFETIME_MS;
    expect(await isGood(db, tokenOf(url), late - 1)).toBe(true);
    expect(await isGood(db, tokenOf(url), late)).toBe(false);
    expect(await db.read(() => listOwnInvitations(cleoId, late - 1))).toHaveLength(1);
    expect(await db.read(() => listOwnInvitations(cleoId, late))).toEqual([]);
    const accept = performOn(db, acceptInvitation, { invitation: invitation.id }, { actor, now: late });
    await expect(accept).rejects.toMatchObject(notFound);
    expect(await db.transaction(() => dropOldInvitations(late - 1))).toBe(0);
    expect(await db.transaction(() => dropOldInvitations(late))).toBe(1);
  });

  test("a second one to an address replaces the first, in whatever case; other workspaces' stay", async () => {
    const db = await temporary();
    const { workspace, cleo } = await world(db);
    const first = await invite(db, workspace);
    const elsewhere = await invite(db, "cleo", {}, { actor: cleo });
    const second = await invite(db, workspace, { email: "Guest@Example.ORG", role: "owner" });
    const good = async ({ url }: { readonly url: string | null }) => isGood(db, tokenOf(url));
    expect([await good(first), await good(second), await good(elsewhere)]).toEqual([false, true, true]);
  });

  test("only owners invite, and only who is no member, with an address that a mail server takes, to forms that are there", async () => {
    const db = await temporary();
    const { workspace, editor, boundEditor, reader, cleo, owner } = await world(db);
    for (const actor of [editor, boundEditor, reader])
      await expect(invite(db, workspace, {}, { actor })).rejects.toMatchObject({ code: "forbidden" });
    await expect(invite(db, workspace, {}, { actor: cleo })).rejects.toMatchObject(notFound);
    for (const [wrong, code] of [
      [{ email: "reader@example.com" }, "already_exists"],
      [{ email: "guest" }, "usage"],
      [{ email: "guest@local host" }, "usage"],
      [{ email: `${"g".repeat(300)}@example.org` }, "usage"],
      [{ role: "owner", endpoints: ["Shop"] }, "usage"],
      [{ role: "editor", export: false }, "usage"],
      [{ endpoints: ["Contact"] }, "not_found"],
      [{ role: "operator" }, "invalid_request"],
    ] as const)
      await expect(invite(db, workspace, wrong, { actor: owner })).rejects.toMatchObject({ code });
    expect(await rowsOf(db, "SELECT id FROM invitation")).toEqual([]);
  });

  test("members and invitations together are bounded, and one that replaces another fits", async () => {
    const db = await temporary();
    const { workspace } = await world(db);
    const members = (await performOn(db, listWorkspaceMembers, { workspace })).data.length;
    const making = { workspaceId: workspace, byAccountId: null, isByOperator: false, madeAt: NOON };
    await db.transaction(function* () {
      for (let number = members; number < MAX_MEMBERS; number += 1)
        yield* storeInvitation({ ...making, email: `g${number}@example.org` }, READER);
    });
    await expect(invite(db, workspace)).rejects.toMatchObject({ code: "usage" });
    await invite(db, workspace, { email: `g${members}@example.org` });
  });

  test("are worth nothing when their maker is no owner any more, or a form of theirs left the workspace", async () => {
    const db = await temporary();
    const { workspace, owner, ben, shop, cleo, cleoEmail, cleoWorkspace } = await world(db);
    const bens: Actor = { kind: "account", ...ben.identity };
    const byOwner = await invite(db, workspace, {}, { actor: owner });
    const byBen = await invite(db, workspace, { email: cleoEmail, endpoints: ["Shop"] }, { actor: bens });
    await performOn(db, leaveWorkspace, { workspace }, { actor: owner });
    expect(await isGood(db, tokenOf(byOwner.url))).toBe(false);
    const there = { accountId: ben.identity.accountId, workspaceId: cleoWorkspace };
    await db.transaction(() => storeMember(there, OWNER, { since: 1, byAccountId: null }));
    const parts = { endpointContents: { deletions: [], moves: [] } };
    await performOn(db, moveEndpoint, { endpoint: shop.endpoint, to: there.workspaceId }, { parts });
    await performOn(db, acceptInvitation, { invitation: byBen.invitation.id }, { actor: cleo });
    const { member } = await performOn(db, showMember, { workspace, email: cleoEmail });
    expect(member.endpoints).toEqual([]);
  });

  test("an account whose address nobody proved or vouches for finds none, and accepts what it has the link of", async () => {
    const db = await temporary();
    const { workspace, cleo: actor, cleoEmail, cleoId, owner } = await world(db);
    await db.transaction(() => noteDoubt(cleoId));
    const { invitation, url } = await invite(db, workspace, { email: cleoEmail }, { actor: owner });
    const own = () => db.read(() => listOwnInvitations(cleoId, NOON));
    expect(await own()).toEqual([]);
    const byId = performOn(db, acceptInvitation, { invitation: invitation.id }, { actor });
    await expect(byId).rejects.toMatchObject(notFound);
    await db.transaction(() => noteEmailProved(cleoId, NOON));
    expect(await own()).toHaveLength(1);
    await db.transaction(() => run(text("UPDATE account SET email_proved_at = NULL WHERE id = ?", cleoId)));
    await performOn(db, acceptInvitation, { invitation: invitation.id, token: tokenOf(url) }, { actor });
    // A link that was handed over proves no address.
    expect(await rowsOf(db, `SELECT email_proved_at FROM account WHERE id = '${cleoId}'`)).toEqual([
      { email_proved_at: null },
    ]);
  });

  test("with a mail server a letter has a link of its own, whose token proves the address; only operators are shown a link too", async () => {
    const db = await temporary();
    const { workspace, owner: actor, cleo, cleoEmail, cleoId } = await world(db);
    const byOwner = await inviteByMail(db, workspace, { email: cleoEmail }, { actor });
    expect(byOwner.url).toBeNull();
    const byOperator = await inviteByMail(db, workspace, { email: "other@example.org" });
    expect(byOperator.url).toMatch(/^https:\/\/forms\.example\.com\/dashboard\/invitation#[\w-]{32}$/);
    const [letter] = await rowsOf<{ topic: string; address: string; content: string }>(
      db,
      "SELECT topic, address, content FROM letter ORDER BY id",
    );
    expect(letter?.address).toBe(cleoEmail);
    const linkOf = createInvitationLinks({ db, clock: createFakeClock(), dashboardUrl: URL_BASE });
    const link = await linkOf(letter?.topic ?? "");
    const mailed = tokenOf(link?.url ?? null);
    const given = { invitation: byOwner.invitation.id, token: mailed };
    await performOn(db, acceptInvitation, given, { actor: cleo });
    expect(await rowsOf(db, `SELECT email_proved_at FROM account WHERE id = '${cleoId}'`)).toEqual([
      { email_proved_at: NOON },
    ]);
    // What was used up is not sent any more.
    expect(await linkOf(letter?.topic ?? "")).toBeNull();
    for (const wrong of ["", "invitation ", "invitation inv_0", "confirmation rcpt_1"])
      expect(await linkOf(wrong)).toBeNull();
  });

  test("the letter has no word that somebody chose: neither workspace nor account", async () => {
    const db = await temporary();
    const { workspace, owner: actor } = await world(db);
    await db.transaction(() =>
      run(text("UPDATE workspace SET name = 'Buy gold at evil.example' WHERE id = ?", workspace)),
    );
    await inviteByMail(db, workspace, {}, { actor });
    const [letter] = await rowsOf<{ content: string }>(db, "SELECT content FROM letter");
    for (const chosen of ["gold", "evil", "owner@example.com", "ben"])
      expect(letter?.content).not.toContain(chosen);
  });

  test("letters are bounded by mailbox, by account and by all accounts together, and a refused one leaves no invitation", async () => {
    const db = await temporary();
    const { workspace, owner: actor, ben } = await world(db);
    const bens: Actor = { kind: "account", ...ben.identity };
    const limited = { code: "rate_limited" };
    for (const tag of ["", "+a", "+b"])
      await inviteByMail(db, workspace, { email: `guest${tag}@example.org` }, { actor });
    // A mailbox has many addresses.
    const again = inviteByMail(db, workspace, { email: "Guest+c@example.org" }, { actor: bens });
    await expect(again).rejects.toMatchObject(limited);
    const config = {
      ...mailConfig,
      mail: { ...mailConfig.mail, limits: { ...mailConfig.mail.limits, confirmationsPerHour: 4 } },
    };
    const as = { parts: withMail, config };
    const to = (email: string) => ({ workspace, email, role: "reader" as const });
    await performOn(db, inviteMember, to("x@example.org"), { ...as, actor: bens });
    await expect(
      performOn(db, inviteMember, to("y@example.org"), { ...as, actor: bens }),
    ).rejects.toMatchObject(limited);
    // Operators are not among them.
    await performOn(db, inviteMember, to("y@example.org"), as);
    for (let number = 0; number < 17; number += 1)
      await inviteByMail(db, workspace, { email: `g${number}@example.org` }, { actor });
    await expect(inviteByMail(db, workspace, { email: "g99@example.org" }, { actor })).rejects.toMatchObject(
      limited,
    );
    const emails = await rowsOf<{ email: string }>(db, "SELECT email FROM invitation");
    expect(emails).toHaveLength(22);
    expect(emails.map(({ email }) => email)).not.toContain("g99@example.org");
    await inviteByMail(db, workspace, { email: "g99@example.org" }, { actor, now: NOON + 3_600_001 });
  });
});
