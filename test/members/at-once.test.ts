import { describe, expect, test } from "vitest";
import { WORKSPACE_CONTENTS } from "../../src/app/features.ts";
import type { Database } from "../../src/database/database.ts";
import { leaveWorkspace, removeWorkspaceMember, setMember } from "../../src/members/member-operations.ts";
import { transferWorkspace } from "../../src/members/transfer-workspace.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { setAccount } from "../../src/workspaces/account-operations.ts";
import { deleteAccount } from "../../src/workspaces/delete-account.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { insertAccountRows, updateOperatorRow } from "../../src/workspaces/workspace-store.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { OWNER, withMembers } from "../support/members.ts";
import { performOn } from "../support/terminal.ts";

/* What two people do in the same moment, each of which is right alone: a workspace keeps an owner, and the server an operator. */

const parts = { workspaceContents: WORKSPACE_CONTENTS };

/** How many of them were done; the others were refused with one of these codes. */
async function doneOf(asked: readonly Promise<unknown>[], codes: readonly string[]): Promise<number> {
  const results = await Promise.allSettled(asked);
  const refused = results.filter((result) => result.status === "rejected");
  for (const { reason } of refused) expect(codes).toContain((reason as { code?: string }).code ?? reason);
  return results.length - refused.length;
}

const operatorsOf = (db: Database) =>
  rowsOf<{ email: string }>(db, "SELECT email FROM account WHERE is_operator = 1");

describe.each(ENGINES)("on $name", ({ temporary }) => {
  /** Ben's workspace with two owners and nobody else who could help. */
  async function twoOwnersOfOne() {
    const db = await temporary();
    const { ben, owner, workspace } = await withMembers(db);
    const people = [{ kind: "account", ...ben.identity } as const, owner] as const;
    const ownersLeft = () =>
      rowsOf<{ account_id: string }>(
        db,
        `SELECT account_id FROM member WHERE role = 'owner' AND workspace_id = '${workspace}'`,
      );
    return { db, people, workspace, ownersLeft };
  }

  const DEEDS: Readonly<
    Record<string, (db: Database, workspace: string, by: Actor, email: string) => Promise<unknown>>
  > = {
    "remove each other": (db, workspace, actor, email) =>
      performOn(db, removeWorkspaceMember, { workspace, email }, { actor }),
    "make each other readers": (db, workspace, actor, email) =>
      performOn(db, setMember, { workspace, email, role: "reader" }, { actor }),
    leave: (db, workspace, actor) => performOn(db, leaveWorkspace, { workspace }, { actor }),
    "are deleted": (db, _workspace, _actor, account) => performOn(db, deleteAccount, { account }, { parts }),
  };

  test.each(Object.entries(DEEDS))(
    "if the two owners of a workspace %s at once, one of them stays its owner, to whom its letters go",
    async (_what, deed) => {
      const { db, people, workspace, ownersLeft } = await twoOwnersOfOne();
      // Each has a workspace of their own, with which they could not be deleted.
      await write(
        db,
        `DELETE FROM member WHERE workspace_id <> '${workspace}'`,
        `DELETE FROM workspace WHERE id <> '${workspace}' AND NOT EXISTS
          (SELECT 1 FROM endpoint WHERE workspace_id = workspace.id)`,
      );
      const [one, other] = people;
      const asked = [deed(db, workspace, one, other.email), deed(db, workspace, other, one.email)];
      // Who was removed first sees no workspace any more, and a reader has no such right.
      expect(await doneOf(asked, ["conflict", "not_found", "forbidden"])).toBe(1);
      const left = await ownersLeft();
      expect(left).toHaveLength(1);
      expect(await rowsOf(db, `SELECT account_id FROM workspace WHERE id = '${workspace}'`)).toEqual(left);
    },
  );

  test("an account that becomes the only owner of a workspace while it is deleted stays, and so does the workspace", async () => {
    const { db, people, workspace, ownersLeft } = await twoOwnersOfOne();
    const [ben, owner] = people;
    let isAlone = false;
    const onProgress = async (): Promise<void> => {
      if (isAlone) return;
      isAlone = true;
      await performOn(db, leaveWorkspace, { workspace }, { actor: ben });
    };
    const input = { account: owner.email, with_workspaces: true };
    await expect(performOn(db, deleteAccount, input, { parts, onProgress })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("is the only owner of 1 workspace: ben") as string,
    });
    expect(isAlone).toBe(true);
    expect(await ownersLeft()).toEqual([{ account_id: owner.accountId }]);
  });

  test("a workspace that is handed over twice at once has one new owner for each that was done, and never none", async () => {
    const { db, people, workspace, ownersLeft } = await twoOwnersOfOne();
    const [ben, owner] = people;
    const hand = (actor: Actor, to: string) => performOn(db, transferWorkspace, { workspace, to }, { actor });
    await doneOf(
      [hand(ben, "editor@example.com"), hand(owner, ben.email)],
      ["conflict", "not_found", "forbidden", "usage"],
    );
    const left = await ownersLeft();
    expect(left.length).toBeGreaterThan(0);
    const [named] = await rowsOf<{ account_id: string }>(
      db,
      `SELECT account_id FROM workspace WHERE id = '${workspace}'`,
    );
    expect(left).toContainEqual(named);
  });

  test("of two operators who take it from each other, or delete each other, at once, one stays", async () => {
    const db = await temporary();
    const make = (email: string) =>
      db.transaction(function* () {
        const { account } = yield* insertAccountRows(email, NOON);
        return yield* updateOperatorRow(account.id, true);
      });
    const emails = ["one@example.com", "two@example.com"] as const;
    for (const email of emails) await make(email);
    const takeFrom = (account: string) => performOn(db, setAccount, { account, is_operator: false });
    expect(await doneOf(emails.map(takeFrom), ["conflict"])).toBe(1);
    expect(await operatorsOf(db)).toHaveLength(1);
    for (const email of emails) await db.transaction(() => updateOperatorRow(email, true));
    const drop = (account: string) =>
      performOn(db, deleteAccount, { account, with_workspaces: true }, { parts });
    expect(await doneOf(emails.map(drop), ["conflict"])).toBe(1);
    expect(await operatorsOf(db)).toHaveLength(1);
  });

  test("who is made an owner while the only other one leaves is one, or the other stays", async () => {
    const { db, people, workspace, ownersLeft } = await twoOwnersOfOne();
    const [ben, owner] = people;
    await db.transaction(() =>
      storeMember(
        { workspaceId: workspace, accountId: owner.accountId },
        { ...OWNER, role: "editor" },
        { since: 1, byAccountId: null },
      ),
    );
    const promote = performOn(
      db,
      setMember,
      { workspace, email: owner.email, role: "owner" },
      { actor: ben },
    );
    const leave = performOn(db, leaveWorkspace, { workspace }, { actor: ben });
    await doneOf([promote, leave], ["conflict", "not_found"]);
    expect((await ownersLeft()).length).toBeGreaterThan(0);
  });
});
