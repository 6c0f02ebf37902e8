import { describe, expect, test } from "vitest";
import { WORKSPACE_CONTENTS } from "../../src/app/features.ts";
import type { Database } from "../../src/database/database.ts";
import { listChanges } from "../../src/audit/audit-store.ts";
import { addNote, setSubmissions } from "../../src/submissions/manage/work-operations.ts";
import { showSubmission } from "../../src/submissions/manage/submission-operations.ts";
import { deleteAccount } from "../../src/workspaces/delete-account.ts";
import { countContents, deleteWorkspace } from "../../src/workspaces/delete-workspace.ts";
import type { Progress } from "../../src/operations/operation.ts";
import { threeOwners, threeOwnersOn } from "../support/actors.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { addMember, EDITOR } from "../support/members.ts";
import { performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";
import { until } from "../support/until.ts";
import { goodPost, startServer } from "../support/test-server.ts";

const parts = { workspaceContents: WORKSPACE_CONTENTS };
const plans = { own: { monthlySubmissions: null, endpoints: null, customSpam: false } };

test("a workspace is deleted with all that is in it, while posts to others are taken and posts to it are refused", async () => {
  const server = await startServer({ plans });
  const [doomed, second, other] = [
    await server.addEndpoint({ plan: "own" }),
    await server.addEndpoint({ plan: "own" }),
    await server.addEndpoint(),
  ];
  server.owner.execute(
    `UPDATE endpoint SET workspace_id = '${doomed.workspaceId}' WHERE id = '${second.id}'`,
  );
  const insert = submissionAdder(server.owner);
  server.owner.transactionNow(() => {
    for (let index = 1; index <= 1200; index += 1)
      insert({ id: `sub_${index}`, endpointId: index % 2 ? doomed.id : second.id, createdAt: index });
  });
  const input = { workspace: doomed.workspaceId };
  expect((await performOn(server.owner, countContents, input, { parts })).contents).toEqual({
    endpoints: 2,
    submissions: 1200,
    held: 0,
  });
  const answers: [number, number][] = [];
  const onProgress = async (): Promise<void> => {
    const [gone, taken] = [
      await server.post(second.secret, goodPost),
      await server.post(other.secret, goodPost),
    ];
    answers.push([gone.status, taken.status]);
  };
  await performOn(server.owner, deleteWorkspace, input, { parts, onProgress });
  expect(answers.length).toBeGreaterThan(4);
  for (const [gone, taken] of answers) {
    // A running server notices within a second; until then a post is stored whole, and goes with the others.
    expect([200, 401]).toContain(gone);
    expect(taken).toBe(200);
  }
  await until(async () => (await server.post(second.secret, goodPost)).status === 401);
  const left = (table: string) => server.owner.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect([left("endpoint"), left("submission"), left("remembered_text")]).toEqual([1, answers.length, 0]);
  expect(
    server.owner.prepare("SELECT count(*) FROM workspace WHERE id = ?").pluck().get(doomed.workspaceId),
  ).toBe(0);
  expect(server.owner.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
});

test("the contents of a workspace are counted in parts", async () => {
  const { db, ben, cleo } = await threeOwners();
  const insert = submissionAdder(db);
  db.transactionNow(() => {
    for (let count = 0; count < 12_345; count += 1) insert({ endpointId: ben.endpoint });
    insert({ endpointId: cleo.endpoint });
  });
  let reads = 0;
  const read: Database["read"] = (work) => {
    reads += 1;
    return db.read(work);
  };
  const input = { workspace: ben.workspace };
  const { contents } = await performOn({ ...db, read }, countContents, input, { parts });
  expect(contents).toEqual({ endpoints: 1, submissions: 12_345, held: 0 });
  // Two find the workspace and its endpoints, three count 5,000 submissions each, and one the held posts.
  expect(reads).toBe(6);
});

test("a deletion tells how many of the submissions are gone", async () => {
  const { db, ben } = await threeOwners();
  const insert = submissionAdder(db);
  db.transactionNow(() => {
    for (let count = 0; count < 1200; count += 1) insert({ endpointId: ben.endpoint });
  });
  const progress: Progress[] = [];
  const onProgress = async (each: Progress): Promise<void> => void progress.push(each);
  await performOn(db, deleteWorkspace, { workspace: ben.workspace }, { parts, onProgress });
  expect(progress[0]?.total).toBe(1200);
  expect(progress.every(({ done, total }) => done <= Number(total))).toBe(true);
});

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("a deletion that is cut off is recorded, leaves the forms refusing posts, and is finished by doing it again", async () => {
    const db = await temporary();
    const { ben, cleo } = await threeOwnersOn(db);
    let steps = 0;
    const onProgress = () => ((steps += 1) > 1 ? Promise.reject(new Error("killed")) : Promise.resolve());
    const input = { workspace: ben.workspace };
    await expect(performOn(db, deleteWorkspace, input, { parts, onProgress })).rejects.toThrow("killed");
    expect(await rowsOf(db, "SELECT action FROM audit_event WHERE action = 'workspace.delete'")).toHaveLength(
      1,
    );
    const working = `SELECT api_key.id FROM api_key JOIN endpoint ON endpoint.id = endpoint_id
      WHERE is_revoked = 0 AND workspace_id = '${ben.workspace}'`;
    expect(await rowsOf(db, working)).toEqual([]);
    expect(await rowsOf(db, `SELECT state FROM endpoint WHERE workspace_id = '${ben.workspace}'`)).toEqual([
      { state: "paused" },
    ]);
    await performOn(db, deleteWorkspace, input, { parts });
    expect(await rowsOf(db, `SELECT id FROM workspace WHERE id = '${ben.workspace}'`)).toEqual([]);
    expect(await rowsOf(db, "SELECT id FROM endpoint ORDER BY id")).toHaveLength(2);
    expect(await rowsOf(db, `SELECT id FROM endpoint WHERE id = '${cleo.endpoint}'`)).toHaveLength(1);
  });
});

test("an account is deleted only without workspaces of its own or with them, and never if it is the only operator", async () => {
  const { db, ada, ben, cleo } = await threeOwners();
  const remove = (account: string, with_workspaces = false, actor = ada.actor) =>
    performOn(db, deleteAccount, { account, with_workspaces }, { parts, actor });
  await expect(remove("ben@example.com", true, cleo.actor)).rejects.toMatchObject({ code: "forbidden" });
  await expect(remove("ben@example.com")).rejects.toMatchObject({
    code: "conflict",
    message: "ben@example.com is the only owner of 1 workspace: ben; delete them, or say that they go too",
  });
  await expect(remove("ada@example.com", true)).rejects.toMatchObject({
    code: "conflict",
    message: "ada@example.com is the only operator",
  });
  expect(await rowsOf(db, "SELECT id FROM workspace")).toHaveLength(3);
  await remove("ben@example.com", true);
  expect(await rowsOf(db, "SELECT email FROM account ORDER BY email")).toEqual([
    { email: "ada@example.com" },
    { email: "cleo@example.com" },
  ]);
  expect(await rowsOf(db, `SELECT id FROM endpoint WHERE id = '${ben.endpoint}'`)).toEqual([]);
  const recorded = await rowsOf<{ action: string; subject: string }>(
    db,
    "SELECT action, subject FROM audit_event WHERE action LIKE '%.delete' ORDER BY id",
  );
  expect(recorded).toEqual([
    { action: "workspace.delete", subject: ben.workspace },
    { action: "account.delete", subject: "ben@example.com" },
  ]);
});

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("what an account did keeps its name after it is deleted, and nobody is assigned in its place", async () => {
    const db = await temporary();
    const { ben, shop } = await twoOwners(db);
    const email = "dora@example.com";
    const dora = await addMember(db, ben.workspace.id, email, EDITOR);
    const { submission } = shop;
    const mine = { submissions: [submission], assignee: email };
    await performOn(db, addNote, { submission, text: "called back" }, { actor: dora });
    expect((await performOn(db, setSubmissions, mine, { actor: dora })).assignee?.email).toBe(email);
    await performOn(db, deleteAccount, { account: email, with_workspaces: true }, { parts });
    expect(await rowsOf(db, `SELECT id FROM account WHERE email = '${email}'`)).toEqual([]);
    expect(await rowsOf(db, "SELECT id, assignee_id FROM submission_work")).toEqual([
      { id: submission, assignee_id: null },
    ]);
    const left = await performOn(db, showSubmission, { submission });
    expect([left.assignee, left.notes.map(({ by }) => by)]).toEqual([null, [email]]);
    const changes = await db.read(() => listChanges(10));
    expect(changes.filter(({ subject }) => subject === submission)).toMatchObject([
      { action: "submission.set", actor: { email } },
      { action: "submission.note", actor: { email } },
    ]);
    expect(changes.find(({ action }) => action === "account.delete")).toMatchObject({ subject: email });
  });
});
