import { describe, expect, test } from "vitest";
import { insertEndpointRow, getViewableEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { newId } from "../../src/foundation/id.ts";
import { exampleSchema } from "../support/example-schema.ts";
import {
  deleteSubmissionRows,
  getViewableSubmission,
} from "../../src/submissions/stored/submission-store.ts";
import { listRead, insertReadRows, deleteReadRows } from "../../src/submissions/stored/read-marks.ts";
import type { Viewing } from "../../src/operations/actor.ts";
import {
  insertAccountRows,
  getViewableWorkspace,
  listAccounts,
  listViewableWorkspaces,
} from "../../src/workspaces/workspace-store.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: false } };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  /** An operator, and an account that is none, each with an endpoint and a submission. */
  async function twoAccounts() {
    const db = await temporary();
    const own = async (email: string, now: number) => {
      const { account, workspace } = await db.transaction(() => insertAccountRows(email, now));
      const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };
      const endpoint = await db.transaction(() => insertEndpointRow(workspace, made, plans, now));
      const viewing = { accountId: account.id, isOperator: account.isOperator };
      const [submission = ""] = await storeSubmissions(db, [{ endpointId: endpoint.id, createdAt: now }]);
      return { viewing, workspace, endpoint, submission };
    };
    return { db, ana: await own("ana@example.org", NOON), ben: await own("ben@example.org", NOON + 1) };
  }

  /** The message of the refusal, with the id taken out. */
  async function refusal(work: () => Promise<unknown>, id: string): Promise<string> {
    try {
      await work();
    } catch (error) {
      expect(error).toMatchObject({ code: "not_found" });
      return (error as Error).message.replace(id, "ID");
    }
    throw new Error("it was shown");
  }

  test("the first account of a database is an operator, and no later one is", async () => {
    const db = await temporary();
    for (const email of ["ana@example.org", "ben@example.org"])
      await db.transaction(() => insertAccountRows(email, NOON));
    expect((await db.transaction(() => listAccounts())).map(({ isOperator }) => isOperator)).toEqual([
      true,
      false,
    ]);
  });

  test("an account sees its own workspaces, endpoints and submissions; an operator sees all", async () => {
    const { db, ana, ben } = await twoAccounts();
    const workspaces = (viewing: Viewing) => db.transaction(() => listViewableWorkspaces(viewing));
    expect(await workspaces(ben.viewing)).toEqual([ben.workspace]);
    expect(await workspaces(ana.viewing)).toEqual([ana.workspace, ben.workspace]);
    for (const viewing of [ana.viewing, ben.viewing]) {
      expect(await db.transaction(() => getViewableWorkspace(viewing, ben.workspace.id))).toEqual(
        ben.workspace,
      );
      expect(await db.transaction(() => getViewableEndpoint(viewing, ben.endpoint.id))).toEqual(ben.endpoint);
      expect((await db.transaction(() => getViewableSubmission(viewing, ben.submission))).id).toBe(
        ben.submission,
      );
    }
  });

  test("what belongs to another account is refused in the words of what does not exist", async () => {
    const { db, ana, ben } = await twoAccounts();
    const refused = {
      workspace: (id: string) =>
        refusal(() => db.transaction(() => getViewableWorkspace(ben.viewing, id)), id),
      endpoint: (id: string) => refusal(() => db.transaction(() => getViewableEndpoint(ben.viewing, id)), id),
      submission: (id: string) =>
        refusal(() => db.transaction(() => getViewableSubmission(ben.viewing, id)), id),
    };
    expect(await refused.workspace(ana.workspace.id)).toBe(await refused.workspace(newId("ws", NOON)));
    expect(await refused.endpoint(ana.endpoint.id)).toBe(await refused.endpoint(newId("ep", NOON)));
    expect(await refused.submission(ana.submission)).toBe(await refused.submission(newId("sub", NOON)));
  });

  test("a workspace and an endpoint are found by id alone: their names are not unique to one account", async () => {
    const { db, ana } = await twoAccounts();
    const workspace = await refusal(
      () => db.transaction(() => getViewableWorkspace(ana.viewing, "ana")),
      "ana",
    );
    const endpoint = await refusal(
      () => db.transaction(() => getViewableEndpoint(ana.viewing, "Contact")),
      "Contact",
    );
    expect([workspace, endpoint]).toEqual(["there is no workspace ID", "there is no endpoint ID"]);
  });

  test("each account has read what it has read, until it marks it unread or the submission is deleted", async () => {
    const { db, ana, ben } = await twoAccounts();
    const { accountId } = ana.viewing;
    const ids = [ana.submission, ben.submission];
    const read = async (account: string) => [...(await db.transaction(() => listRead(account, ids)))];
    expect(await read(accountId)).toEqual([]);
    await db.transaction(() => insertReadRows(accountId, [...ids, newId("sub", NOON)]));
    await db.transaction(() => insertReadRows(accountId, ids));
    expect([await read(accountId), await read(ben.viewing.accountId)]).toEqual([ids, []]);
    await db.transaction(() => deleteReadRows(accountId, [ben.submission]));
    expect(await read(accountId)).toEqual([ana.submission]);
    await db.transaction(() => deleteSubmissionRows([ana.submission]));
    expect(await rowsOf(db, "SELECT 1 FROM submission_read")).toEqual([]);
  });
});

test("a mark is found by the submission, so that a deletion does not search all marks", () => {
  const db = temporaryDatabase();
  const plan = db
    .prepare("EXPLAIN QUERY PLAN DELETE FROM submission_read WHERE submission_id = 'sub_1'")
    .get();
  expect(JSON.stringify(plan)).toContain("USING PRIMARY KEY (submission_id=?)");
});
