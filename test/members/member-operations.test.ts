import { describe, expect, test } from "vitest";
import { WORKSPACE_CONTENTS } from "../../src/app/features.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { listAllEndpoints, pauseEndpoint, showEndpoint } from "../../src/endpoints/endpoint-operations.ts";
import { issueKey, listEndpointKeys } from "../../src/endpoints/key-operations.ts";
import { moveEndpoint } from "../../src/endpoints/move-endpoint.ts";
import { showSpam } from "../../src/endpoints/spam-operations.ts";
import {
  leaveWorkspace,
  listWorkspaceMembers,
  removeWorkspaceMember,
  setMember,
} from "../../src/members/member-operations.ts";
import { transferWorkspace } from "../../src/members/transfer-workspace.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { listEvents } from "../../src/submissions/find/event-operations.ts";
import { exportSubmissions } from "../../src/submissions/export/export-submissions.ts";
import { dropAllHeld, listHeld, showHeld } from "../../src/submissions/held/held-operations.ts";
import { findPersonRecords } from "../../src/submissions/manage/person-operations.ts";
import { explainScore } from "../../src/submissions/manage/spam-operations.ts";
import { SearchSlots } from "../../src/submissions/find/search-slots.ts";
import {
  listSubmissions,
  markSubmissionsRead,
  showSubmission,
} from "../../src/submissions/manage/submission-operations.ts";
import { deleteSubmissions, setSubmissions } from "../../src/submissions/manage/work-operations.ts";
import { tailSubmissions } from "../../src/submissions/find/tail-submissions.ts";
import { createToken, listAllTokens } from "../../src/tokens/token-operations.ts";
import { deleteAccount } from "../../src/workspaces/delete-account.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { listViewableWorkspaces } from "../../src/workspaces/workspace-store.ts";
import { listUsages, showUsage } from "../../src/workspaces/usage-operations.ts";
import { ENGINES, write } from "../support/engines.ts";
import { OWNER, withMembers } from "../support/members.ts";
import { untilTailed } from "../support/temporary-postgresql.ts";
import { partsOn, performOn } from "../support/terminal.ts";
import { plans } from "../support/two-owners.ts";

const parts = {
  searches: new SearchSlots(),
  spamDefaults: defaultSpamSettings(5),
  workspaceContents: WORKSPACE_CONTENTS,
  endpointContents: { deletions: [], moves: [] },
  committed: () => Promise.resolve(),
};
const forbidden = { code: "forbidden" };
const notFound = { code: "not_found" };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("the account of a new workspace is its owner, and members are listed by role and address", async () => {
    const db = await temporary();
    const { workspace, owner } = await withMembers(db);
    const { data } = await performOn(db, listWorkspaceMembers, { workspace }, { actor: owner });
    expect(data.map(({ email, role }) => `${role} ${email}`)).toEqual([
      "owner ben@example.com",
      "owner owner@example.com",
      "editor bound-editor@example.com",
      "editor editor@example.com",
      "reader bound@example.com",
      "reader reader@example.com",
      "reader silent@example.com",
    ]);
  });

  test("who sees only some forms sees nothing of the others, in any list, search, export or event", async () => {
    const db = await temporary();
    const { bound: actor, shop, jobs, workspace } = await withMembers(db);
    const as = { actor, parts };
    const { data: forms } = await performOn(db, listAllEndpoints, {}, as);
    expect(forms.map(({ id }) => id)).toEqual([shop.endpoint]);
    const { data: posts } = await performOn(db, listSubmissions, {}, as);
    expect(posts.map(({ id }) => id)).toEqual([shop.submission]);
    const searched = await performOn(db, listSubmissions, { search: "Jobs", workspace }, as);
    expect(searched.data).toEqual([]);
    const { data: held } = await performOn(db, listHeld, {}, as);
    expect(held.map(({ id }) => id)).toEqual([shop.held]);
    const found = await performOn(db, findPersonRecords, { field: "name", value: "Jobs" }, as);
    expect([found.submissions, found.held]).toEqual([[], []]);
    const [exported] = await partsOn(db, exportSubmissions, { format: "json" }, as);
    expect(exported?.text).not.toContain(jobs.submission);
    await untilTailed(db);
    const tailed = await partsOn(db, tailSubmissions, {}, as);
    expect(tailed.map(({ id }) => id)).toEqual([shop.submission]);
    for (const strange of [
      () => performOn(db, showEndpoint, { endpoint: jobs.endpoint }, as),
      () => performOn(db, showEndpoint, { endpoint: "Jobs", workspace }, as),
      () => performOn(db, showSubmission, { submission: jobs.submission }, as),
      () => performOn(db, showHeld, { held: jobs.held }, as),
      () => performOn(db, markSubmissionsRead, { submissions: [jobs.submission] }, as),
      () => performOn(db, showSpam, { workspace }, as),
    ])
      await expect(strange()).rejects.toMatchObject(notFound);
    await performOn(db, pauseEndpoint, { endpoint: jobs.endpoint });
    await performOn(db, pauseEndpoint, { endpoint: shop.endpoint });
    await untilTailed(db);
    const { data: events } = await performOn(db, listEvents, {}, as);
    expect(events.filter(({ ids }) => ids.includes(jobs.endpoint))).toEqual([]);
    expect(events.filter(({ ids }) => ids.includes(shop.endpoint))).not.toEqual([]);
  });

  test("a reader reads, marks as read and exports; all else is refused with the role's name, and a stranger finds nothing", async () => {
    const db = await temporary();
    const { reader, cleo, shop, workspace } = await withMembers(db);
    const refused = [
      (actor: Actor) => performOn(db, pauseEndpoint, { endpoint: shop.endpoint }, { actor }),
      (actor: Actor) => performOn(db, listEndpointKeys, { endpoint: shop.endpoint }, { actor }),
      (actor: Actor) => performOn(db, deleteSubmissions, { submissions: [shop.submission] }, { actor }),
      (actor: Actor) => performOn(db, listWorkspaceMembers, { workspace }, { actor }),
      (actor: Actor) => performOn(db, showUsage, { workspace }, { actor }),
    ];
    for (const ask of refused) {
      await expect(ask(reader)).rejects.toMatchObject({
        ...forbidden,
        message: expect.stringContaining("the role reader in this workspace") as string,
      });
      await expect(ask({ kind: "account", ...cleo.identity })).rejects.toMatchObject(notFound);
    }
    const as = { actor: reader, parts };
    await performOn(db, markSubmissionsRead, { submissions: [shop.submission] }, as);
    expect(await partsOn(db, exportSubmissions, { workspace }, as)).not.toEqual([]);
  });

  test("a reader whose switches are off neither exports nor sees why a post scored", async () => {
    const db = await temporary();
    const { silent, reader, shop, workspace } = await withMembers(db);
    const as = { actor: silent, parts };
    for (const input of [{ workspace }, { endpoint: shop.endpoint }])
      await expect(partsOn(db, exportSubmissions, input, as)).rejects.toMatchObject({
        ...forbidden,
        message: "the role reader in this workspace may not export: it is switched off",
      });
    // Their own workspaces alone.
    const [all] = await partsOn(db, exportSubmissions, { format: "json" }, as);
    expect(all?.text).not.toContain(shop.submission);
    await expect(performOn(db, explainScore, { post: shop.held }, as)).rejects.toMatchObject(forbidden);
    const reason = '[{"signal":"links","points":9,"field":null,"detail":"links"}]';
    await write(
      db,
      `UPDATE held SET spam_reasons = '${reason}'`,
      `UPDATE submission SET spam_reasons = '${reason}'`,
    );
    const seenBy = async (actor: Actor) => {
      const by = { actor, parts };
      const { data } = await performOn(db, listSubmissions, { endpoint: shop.endpoint }, by);
      const shown = await performOn(db, showSubmission, { submission: shop.submission }, by);
      const { data: held } = await performOn(db, listHeld, { endpoint: shop.endpoint }, by);
      return [data[0], shown, held[0], await performOn(db, showHeld, { held: shop.held }, by)].map(
        (post) => post?.spam_reasons.length,
      );
    };
    expect(await seenBy(silent)).toEqual([0, 0, 0, 0]);
    expect(await seenBy(reader)).toEqual([1, 1, 1, 1]);
  });

  test("an editor changes forms and issues publishable keys, and neither secret ones nor members", async () => {
    const db = await temporary();
    const { editor: actor, owner, shop, workspace } = await withMembers(db);
    await performOn(db, pauseEndpoint, { endpoint: shop.endpoint }, { actor });
    await performOn(db, issueKey, { endpoint: shop.endpoint, kind: "publishable" }, { actor });
    const secret = performOn(db, issueKey, { endpoint: shop.endpoint, kind: "secret" }, { actor });
    await expect(secret).rejects.toMatchObject(forbidden);
    const input = { name: "New", schema: exampleSchema, workspace };
    const made = await performOn(db, createEndpoint, input, { actor, plans });
    expect([made.keys.secret, made.keys.publishable]).toEqual([null, expect.stringMatching(/^fpk_/)]);
    const { data } = await performOn(db, listEndpointKeys, { endpoint: made.endpoint.id }, { actor });
    expect(data.map(({ kind }) => kind)).toEqual(["publishable"]);
    const owners = await performOn(db, createEndpoint, { ...input, name: "Newer" }, { actor: owner, plans });
    expect(owners.keys.secret).toMatch(/^fsk_/);
    const set = performOn(
      db,
      setMember,
      { workspace, email: "reader@example.com", role: "owner" },
      { actor },
    );
    await expect(set).rejects.toMatchObject(forbidden);
  });

  test("who edits only some forms changes those, and nothing that concerns the whole workspace", async () => {
    const db = await temporary();
    const { boundEditor: actor, shop, jobs, workspace } = await withMembers(db);
    await performOn(db, pauseEndpoint, { endpoint: shop.endpoint }, { actor });
    const other = performOn(db, pauseEndpoint, { endpoint: jobs.endpoint }, { actor });
    await expect(other).rejects.toMatchObject(notFound);
    const made = performOn(db, createEndpoint, { name: "New", schema: exampleSchema, workspace }, { actor });
    await expect(made).rejects.toMatchObject({
      ...forbidden,
      message: expect.stringContaining("concerns the whole workspace") as string,
    });
    const dropped = await performOn(db, dropAllHeld, { newest: jobs.held }, { actor, parts });
    expect(dropped.dropped).toBe(1);
    expect((await performOn(db, listHeld, { endpoint: jobs.endpoint })).data).toHaveLength(1);
  });

  test("a submission is given to a member who sees it, and to nobody else", async () => {
    const db = await temporary();
    const { editor: actor, shop, jobs, cleo } = await withMembers(db);
    const assign = (submission: string, assignee: string) =>
      performOn(db, setSubmissions, { submissions: [submission], assignee }, { actor });
    expect((await assign(shop.submission, "bound@example.com")).assignee?.email).toBe("bound@example.com");
    for (const [submission, nobody] of [
      [jobs.submission, "bound@example.com"],
      [shop.submission, cleo.identity.email],
      [shop.submission, "nobody@example.com"],
    ] as const)
      await expect(assign(submission, nobody)).rejects.toMatchObject({ code: "usage" });
  });

  test("a token narrows with its account, and service tokens are the owner's to see", async () => {
    const db = await temporary();
    const { reader, owner, shop, workspace } = await withMembers(db);
    const { accountId, email } = reader;
    const token: Actor = {
      kind: "token",
      tokenId: "tok_1",
      name: "CI",
      account: { accountId, email, isOperator: false },
      scopes: ["endpoints:write", "submissions:write"],
      reach: null,
    };
    const pause = () => performOn(db, pauseEndpoint, { endpoint: shop.endpoint }, { actor: token });
    await expect(pause()).rejects.toMatchObject(forbidden);
    await performOn(db, setMember, { workspace, email, role: "editor" }, { actor: owner });
    await pause();
    await performOn(db, removeWorkspaceMember, { workspace, email }, { actor: owner });
    await expect(pause()).rejects.toMatchObject(notFound);
    await performOn(db, createToken, { name: "service", workspace }, { actor: owner });
    const tokensOf = async (actor: Actor) => (await performOn(db, listAllTokens, {}, { actor })).data.length;
    expect([await tokensOf(owner), await tokensOf(reader)]).toEqual([1, 0]);
    const asReader = performOn(db, createToken, { name: "mine", workspace }, { actor: reader });
    await expect(asReader).rejects.toMatchObject(notFound);
  });

  test("the plan's usage is shown to owners, of the workspaces that they own", async () => {
    const db = await temporary();
    const { reader, owner, workspace } = await withMembers(db);
    const seenBy = async (actor: Actor) =>
      (await performOn(db, listUsages, {}, { actor })).data.map(({ workspace_id: id }) => id);
    expect(await seenBy(owner)).toContain(workspace);
    // Its own workspace, which comes with an account.
    expect(await seenBy(reader)).not.toContain(workspace);
    expect(await seenBy(reader)).toHaveLength(1);
  });

  test("a role that is no owner's is bound and switched; what has no meaning is refused", async () => {
    const db = await temporary();
    const { owner: actor, shop, jobs, workspace } = await withMembers(db);
    const email = "reader@example.com";
    const set = (more: object) => performOn(db, setMember, { workspace, email, ...more }, { actor });
    const bound = await set({ endpoints: ["Shop"], export: false });
    expect(bound.member).toMatchObject({ endpoints: [shop.endpoint], export: false, spam_details: true });
    expect((await set({ role: "editor" })).member).toMatchObject({
      endpoints: [shop.endpoint],
      export: true,
    });
    expect((await set({ role: "owner" })).member.endpoints).toBeNull();
    for (const wrong of [
      { role: "owner", endpoints: ["Shop"] },
      { role: "editor", export: false },
      { endpoints: [] },
      { endpoints: Array.from({ length: 101 }, () => "Shop") },
      { role: "king" },
    ])
      await expect(set(wrong)).rejects.toMatchObject({
        code: expect.stringMatching(/usage|invalid/) as string,
      });
    await expect(set({ endpoints: ["Contact"], role: "reader" })).rejects.toMatchObject(notFound);
    const nobody = performOn(db, setMember, { workspace, email: "nobody@example.com" }, { actor });
    await expect(nobody).rejects.toMatchObject(notFound);
    expect((await set({ role: "reader", endpoints: [jobs.endpoint] })).member.endpoints).toEqual([
      jobs.endpoint,
    ]);
  });

  test("the last owner can neither be removed, nor leave, nor become less", async () => {
    const db = await temporary();
    const { ben, owner, workspace } = await withMembers(db);
    const last: Actor = { kind: "account", ...ben.identity };
    await performOn(db, leaveWorkspace, { workspace }, { actor: owner });
    const refusal = { code: "conflict", message: expect.stringContaining("is the only owner") as string };
    const email = ben.identity.email;
    for (const ask of [
      () => performOn(db, leaveWorkspace, { workspace }, { actor: last }),
      () => performOn(db, removeWorkspaceMember, { workspace, email }, { actor: last }),
      () => performOn(db, removeWorkspaceMember, { workspace, email }),
      () => performOn(db, setMember, { workspace, email, role: "editor" }, { actor: last }),
      () => performOn(db, deleteAccount, { account: email }, { parts }),
    ])
      await expect(ask()).rejects.toMatchObject(refusal);
  });

  test("a workspace outlives the account that made it if it has another owner", async () => {
    const db = await temporary();
    const { ben, owner, workspace, shop } = await withMembers(db);
    await performOn(db, deleteAccount, { account: ben.identity.email, with_workspaces: true }, { parts });
    const seen = await db.read(() => listViewableWorkspaces(owner));
    expect(seen.find(({ id }) => id === workspace)?.accountId).toBe(owner.accountId);
    await performOn(db, showEndpoint, { endpoint: shop.endpoint }, { actor: owner });
  });

  test("a workspace is handed over to a member, who owns it, and its owner of before stays what was said", async () => {
    const db = await temporary();
    const { ben, cleo, editor, owner, workspace, shop } = await withMembers(db);
    const actor: Actor = { kind: "account", ...ben.identity };
    const hand = (to: string, as: Actor, stay: "editor" | "reader" | null = null) =>
      performOn(db, transferWorkspace, { workspace, to, stay }, { actor: as });
    await expect(hand(owner.email, editor)).rejects.toMatchObject(forbidden);
    // Who has an account is nobody's business.
    for (const to of [cleo.identity.email, "nobody@example.com"])
      await expect(hand(to, actor)).rejects.toMatchObject({
        ...notFound,
        message: `${to} is no member of ben`,
      });
    await expect(hand(ben.identity.email, actor)).rejects.toMatchObject({ code: "usage" });
    const moved = await hand("EDITOR@example.com", actor, "reader");
    expect(moved.workspace.account_id).toBe(editor.accountId);
    const { data } = await performOn(db, listWorkspaceMembers, { workspace }, { actor: editor });
    expect(data.map(({ email, role }) => `${role} ${email}`).slice(0, 2)).toEqual([
      "owner editor@example.com",
      "owner owner@example.com",
    ]);
    const pause = performOn(db, pauseEndpoint, { endpoint: shop.endpoint }, { actor });
    await expect(pause).rejects.toMatchObject(forbidden);
    await performOn(db, transferWorkspace, { workspace, to: cleo.identity.email });
    const again = performOn(db, listWorkspaceMembers, { workspace }, { actor: editor });
    await expect(again).rejects.toMatchObject(notFound);
    const cleos: Actor = { kind: "account", ...cleo.identity };
    expect((await performOn(db, listWorkspaceMembers, { workspace }, { actor: cleos })).data[0]?.email).toBe(
      cleo.identity.email,
    );
  });

  test("a form that moves away is not seen in its new workspace by who saw it in the old one", async () => {
    const db = await temporary();
    const { bound, ben, cleo, shop, workspace } = await withMembers(db);
    const there = { workspaceId: cleo.workspace.id, accountId: ben.identity.accountId };
    await db.transaction(() => storeMember(there, OWNER, { since: 1, byAccountId: null }));
    const actor: Actor = { kind: "account", ...ben.identity };
    await performOn(db, moveEndpoint, { endpoint: shop.endpoint, to: cleo.workspace.id }, { actor, parts });
    expect((await performOn(db, listAllEndpoints, {}, { actor: bound })).data).toEqual([]);
    await performOn(db, moveEndpoint, { endpoint: shop.endpoint, to: workspace }, { actor, parts });
    expect((await performOn(db, listAllEndpoints, {}, { actor: bound })).data).toEqual([]);
  });
});
