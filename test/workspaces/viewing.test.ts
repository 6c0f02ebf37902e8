import { expect, test } from "vitest";
import { insertEndpoint, getViewableEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { deleteSubmissions, getViewableSubmission } from "../../src/submissions/submission-store.ts";
import { listRead, markRead, markUnread } from "../../src/submissions/read-marks.ts";
import type { Viewing } from "../../src/workspaces/viewing.ts";
import {
  createAccount,
  getViewableWorkspace,
  listAccounts,
  listViewableWorkspaces,
} from "../../src/workspaces/workspace-store.ts";
import { addSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

/** An operator, and an account that is none, each with an endpoint and a submission. */
function twoAccounts() {
  const db = temporaryDatabase();
  const own = (email: string, now: number) => {
    const { account, workspace } = db.now(() => createAccount(email, now));
    const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
    const endpoint = db.now(() => insertEndpoint(workspace, made, plans, now));
    const viewing: Viewing = { accountId: account.id, isOperator: account.isOperator };
    return {
      viewing,
      workspace,
      endpoint,
      submission: addSubmission(db, { endpointId: endpoint.id, createdAt: now }),
    };
  };
  return { db, ana: own("ana@example.org", NOON), ben: own("ben@example.org", NOON + 1) };
}

/** The message of the refusal, with the id taken out. */
function refusal(work: () => unknown, id: string): string {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({ code: "not_found" });
    return (error as Error).message.replace(id, "ID");
  }
  throw new Error("it was shown");
}

test("the first account of a database is an operator, and no later one is", () => {
  const db = temporaryDatabase();
  for (const email of ["ana@example.org", "ben@example.org"]) db.now(() => createAccount(email, NOON));
  expect(db.now(() => listAccounts()).map(({ isOperator }) => isOperator)).toEqual([true, false]);
});

test("an account sees its own workspaces, endpoints and submissions; an operator sees all", () => {
  const { db, ana, ben } = twoAccounts();
  const workspaces = (viewing: Viewing) => db.now(() => listViewableWorkspaces(viewing));
  expect(workspaces(ben.viewing)).toEqual([ben.workspace]);
  expect(workspaces(ana.viewing)).toEqual([ana.workspace, ben.workspace]);
  for (const viewing of [ana.viewing, ben.viewing]) {
    expect(db.now(() => getViewableWorkspace(viewing, ben.workspace.id))).toEqual(ben.workspace);
    expect(db.now(() => getViewableEndpoint(viewing, ben.endpoint.id))).toEqual(ben.endpoint);
    expect(db.now(() => getViewableSubmission(viewing, ben.submission)).id).toBe(ben.submission);
  }
});

test("what belongs to another account is refused in the words of what does not exist", () => {
  const { db, ana, ben } = twoAccounts();
  const refused = {
    workspace: (id: string) => refusal(() => db.now(() => getViewableWorkspace(ben.viewing, id)), id),
    endpoint: (id: string) => refusal(() => db.now(() => getViewableEndpoint(ben.viewing, id)), id),
    submission: (id: string) => refusal(() => db.now(() => getViewableSubmission(ben.viewing, id)), id),
  };
  expect(refused.workspace(ana.workspace.id)).toBe(refused.workspace(newId("ws", NOON)));
  expect(refused.endpoint(ana.endpoint.id)).toBe(refused.endpoint(newId("ep", NOON)));
  expect(refused.submission(ana.submission)).toBe(refused.submission(newId("sub", NOON)));
});

test("a workspace and an endpoint are found by id alone: their names are not unique to one account", () => {
  const { db, ana } = twoAccounts();
  const workspace = refusal(() => db.now(() => getViewableWorkspace(ana.viewing, "ana")), "ana");
  const endpoint = refusal(() => db.now(() => getViewableEndpoint(ana.viewing, "Contact")), "Contact");
  expect([workspace, endpoint]).toEqual(["there is no workspace ID", "there is no endpoint ID"]);
});

test("each account has read what it has read, until it marks it unread or the submission is deleted", () => {
  const { db, ana, ben } = twoAccounts();
  const { accountId } = ana.viewing;
  const ids = [ana.submission, ben.submission];
  const read = (account: string) => [...db.now(() => listRead(account, ids))];
  expect(read(accountId)).toEqual([]);
  db.now(() => markRead(accountId, [...ids, newId("sub", NOON)]));
  db.now(() => markRead(accountId, ids));
  expect([read(accountId), read(ben.viewing.accountId)]).toEqual([ids, []]);
  db.now(() => markUnread(accountId, [ben.submission]));
  expect(read(accountId)).toEqual([ana.submission]);
  db.now(() => deleteSubmissions([ana.submission]));
  expect(db.prepare("SELECT count(*) FROM submission_read").pluck().get()).toBe(0);
});

test("a mark is found by the submission, so that a deletion does not search all marks", () => {
  const { db } = twoAccounts();
  const plan = db
    .prepare("EXPLAIN QUERY PLAN DELETE FROM submission_read WHERE submission_id = 'sub_1'")
    .get();
  expect(JSON.stringify(plan)).toContain("USING PRIMARY KEY (submission_id=?)");
});
