import { describe, expect, test } from "vitest";
import { MAX_LOOKED_CHANGES } from "../../src/audit/audit-feed.ts";
import type { Database } from "../../src/database/database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { pauseEndpoint, resumeEndpoint } from "../../src/endpoints/endpoint-operations.ts";
import type { Scope } from "../../src/operations/access.ts";
import type { Actor, Reach } from "../../src/operations/actor.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { listEvents } from "../../src/submissions/find/event-operations.ts";
import { MAX_LOOKED } from "../../src/submissions/find/tail.ts";
import { createAccount } from "../../src/workspaces/account-operations.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import { askWith, makeToken } from "../support/api-client.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { ENGINES, write } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { untilTailed } from "../support/temporary-postgresql.ts";
import { performOn } from "../support/terminal.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { DAY_MS, HOUR_MS } from "../../src/foundation/time-units.ts";

interface Page {
  readonly data: { readonly type: string; readonly ids: string[]; readonly id: string }[];
  readonly next_after: string;
}

test("what is stored and changed comes in the order of commits, each once, page by page, and without end", async () => {
  const server = await startServer();
  const form = await server.addEndpoint();
  const ask = askWith(server, await makeToken(server));
  const page = async (query: string): Promise<Page> =>
    (await ask("GET", "/events", { query })).json as unknown as Page;
  const beginning = await page("");
  const { next_after: start } = beginning;
  await server.post(form.secret, goodPost);
  await ask("POST", `/endpoints/${form.id}/pause`);
  await ask("POST", `/endpoints/${form.id}/resume`);
  await server.post(form.secret, goodPost);
  await ask("PATCH", `/endpoints/${form.id}`, { body: { name: "Shop" } });
  const types = [
    "submission.stored",
    "endpoint.pause",
    "endpoint.resume",
    "submission.stored",
    "endpoint.set",
  ];
  const whole = await page(`after=${start}`);
  expect(whole.data.map(({ type }) => type)).toEqual(types);
  expect(whole.data[0]).toMatchObject({
    actor: { kind: "visitor" },
    workspace_id: form.workspaceId,
    ids: [expect.stringMatching(/^sub_/) as string, form.id],
  });
  expect(whole.data[1]).toMatchObject({ actor: { kind: "token", name: "test" }, ids: [form.id] });
  const read: string[] = [];
  let after = start;
  while (read.length < types.length) {
    const next = await page(`limit=2&after=${after}`);
    read.push(...next.data.map(({ id }) => id));
    after = next.next_after;
  }
  expect(read).toEqual(whole.data.map(({ id }) => id));
  const end = await page(`after=${after}`);
  expect(end.data).toEqual([]);
  await server.post(form.secret, goodPost);
  expect((await page(`after=${end.next_after}`)).data.map(({ type }) => type)).toEqual(["submission.stored"]);
});

test.each(["after=nonsense", "after=WzEsMl0", "limit=0", "limit=101", "limit=x", "surely=1"])(
  "%s is refused",
  async (query) => {
    const server = await startServer();
    await server.addEndpoint();
    const ask = askWith(server, await makeToken(server));
    const answer = await ask("GET", "/events", { query });
    expect([answer.status, answer.json["code"]]).toEqual([400, "invalid_request"]);
  },
);

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function world() {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ada@example.com", NOON));
    const other = await db.transaction(() => insertAccountRows("ben@example.com", NOON));
    const make = async (id: string): Promise<string> =>
      (await performOn(db, createEndpoint, { name: "Contact", schema: exampleSchema, workspace: id }))
        .endpoint.id;
    return {
      db,
      workspace: workspace.id,
      endpoint: await make(workspace.id),
      hers: await make(other.workspace.id),
      other: other.workspace.id,
    };
  }

  const token = (scopes: readonly Scope[], reach: Reach): Actor => ({
    kind: "token",
    tokenId: "tok_1",
    name: "CI",
    account: null,
    scopes,
    reach,
  });
  const listen = async (
    db: Database,
    input: { after?: string; limit?: number } = {},
    actor?: Actor,
    now = NOON,
  ) => {
    await untilTailed(db);
    return performOn(db, listEvents, input, { now, ...(actor && { actor }) });
  };
  const typesOf = ({ data }: { data: readonly { type: string }[] }) => data.map(({ type }) => type);

  test("a token hears of its own workspace and endpoint, as far as its scopes read it", async () => {
    const { db, workspace, endpoint, hers } = await world();
    await performOn(db, pauseEndpoint, { endpoint });
    await performOn(db, pauseEndpoint, { endpoint: hers });
    await performOn(db, createAccount, { email: "cleo@example.com" });
    const here = { workspaceId: workspace, endpointId: null };
    expect(typesOf(await listen(db, {}, token(["endpoints:read"], here)))).toEqual([
      "endpoint.create",
      "endpoint.pause",
    ]);
    expect(typesOf(await listen(db, {}, token(["recipients:read"], here)))).toEqual([]);
    const bound = { ...here, endpointId: endpoint };
    expect(typesOf(await listen(db, {}, token(["endpoints:write"], bound)))).toHaveLength(2);
    expect(typesOf(await listen(db, {}, token(["endpoints:write"], { ...here, endpointId: hers })))).toEqual(
      [],
    );
    expect(typesOf(await listen(db))).toEqual([
      "endpoint.create",
      "endpoint.create",
      "endpoint.pause",
      "endpoint.pause",
      "account.create",
    ]);
  });

  test("the address of another account is told to those who may look at members, and one's own always", async () => {
    const { db, workspace, endpoint } = await world();
    const [ada, ben] = await db.read(function* () {
      return yield* listAccounts();
    });
    if (ada === undefined || ben === undefined) throw new Error("two accounts");
    const here = { workspaceId: workspace, endpointId: null };
    const account: Actor = { kind: "account", accountId: ada.id, email: ada.email, isOperator: false };
    await performOn(db, pauseEndpoint, { endpoint }, { actor: account });
    const named = async (actor: Actor) => (await listen(db, {}, actor)).data.map((each) => each.actor);
    const { accountId: id, email } = account;
    expect(await named(token(["endpoints:read"], here))).toContainEqual({ kind: "account", id, name: null });
    const members: Scope[] = ["endpoints:read", "members:read"];
    expect(await named(token(members, here))).toContainEqual({ kind: "account", id, name: email });
    const own = { ...token(["endpoints:read"], here), account: { accountId: id, email, isOperator: false } };
    expect(await named(own as Actor)).toContainEqual({ kind: "account", id, name: email });
    await write(
      db,
      `INSERT INTO member (workspace_id, account_id, role, may_export, sees_spam_details, since)
        VALUES ('${workspace}', '${ben.id}', 'reader', 1, 1, ${NOON})`,
    );
    const reader = {
      ...token(members, here),
      account: { accountId: ben.id, email: ben.email, isOperator: false },
    };
    expect(await named(reader as Actor)).toContainEqual({ kind: "account", id, name: null });
  });

  test("behind more submissions than one look takes, a token of one form hears of each thing in its place, without a gap", async () => {
    const { db, workspace, endpoint, hers } = await world();
    const { next_after: after } = await listen(db);
    const store = (endpointId: string, count: number) =>
      storeSubmissions(
        db,
        Array.from({ length: count }, () => ({ endpointId, createdAt: NOON })),
      );
    await store(hers, MAX_LOOKED);
    await performOn(db, pauseEndpoint, { endpoint });
    await store(hers, MAX_LOOKED + 7);
    await store(endpoint, 2);
    await performOn(db, resumeEndpoint, { endpoint });
    await store(hers, 3);
    const bound = token(["endpoints:read", "submissions:read"], {
      workspaceId: workspace,
      endpointId: endpoint,
    });
    const read: string[] = [];
    for (let page = await listen(db, { after, limit: 2 }, bound); page.data.length > 0;) {
      read.push(...typesOf(page));
      page = await listen(db, { after: page.next_after, limit: 2 }, bound);
    }
    expect(read).toEqual(["endpoint.pause", "submission.stored", "submission.stored", "endpoint.resume"]);
  });

  /** Stores changes in a workspace of others. */
  const storeChanges = (db: Database, workspaceId: string, count: number) =>
    write(
      db,
      `INSERT INTO audit_event (at, workspace_id, action, subject)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
        SELECT ${NOON}, '${workspaceId}', 'endpoint.set', 'ep_0' FROM numbers`,
    );

  test("behind more changes of others than one look takes, each thing is told in its place", async () => {
    const { db, workspace, endpoint, hers, other } = await world();
    const { next_after: after } = await listen(db);
    await storeChanges(db, other, MAX_LOOKED_CHANGES - 3);
    await storeSubmissions(db, [{ endpointId: endpoint, createdAt: NOON }]);
    await performOn(db, pauseEndpoint, { endpoint });
    await storeSubmissions(db, [{ endpointId: endpoint, createdAt: NOON }]);
    await storeChanges(db, other, MAX_LOOKED_CHANGES + 3);
    await storeSubmissions(db, [{ endpointId: hers, createdAt: NOON }]);
    await performOn(db, resumeEndpoint, { endpoint });
    await storeSubmissions(db, [{ endpointId: endpoint, createdAt: NOON }]);
    const actor = token(["endpoints:read", "submissions:read"], { workspaceId: workspace, endpointId: null });
    for (const limit of [1, 2, 100]) {
      const read: string[] = [];
      for (let page = await listen(db, { after, limit }, actor); page.data.length > 0;) {
        read.push(...typesOf(page));
        page = await listen(db, { after: page.next_after, limit }, actor);
      }
      const stored = "submission.stored";
      expect(read).toEqual([stored, "endpoint.pause", stored, "endpoint.resume", stored]);
    }
  });

  test("an answer passes a bounded number of what others did, and the next one goes on behind it", async () => {
    const { db, workspace, endpoint, other } = await world();
    await performOn(db, pauseEndpoint, { endpoint });
    const { next_after: after } = await listen(db);
    await storeChanges(db, other, 20 * MAX_LOOKED_CHANGES + 1);
    await performOn(db, resumeEndpoint, { endpoint });
    const actor = token(["endpoints:read"], { workspaceId: workspace, endpointId: null });
    const nothing = await listen(db, { after }, actor);
    expect(nothing.data).toEqual([]);
    // It has an hour to go on, even if it began at the end of the seven days.
    const later = NOON + 7 * DAY_MS;
    const first = await listen(db, { after }, actor, later);
    expect(first.data).toEqual([]);
    const next = await listen(db, { after: first.next_after }, actor, later + HOUR_MS);
    expect(typesOf(next)).toEqual(["endpoint.resume"]);
    await expect(listen(db, { after: first.next_after }, actor, later + HOUR_MS + 1)).rejects.toMatchObject({
      code: "gone",
    });
  });

  /** Everything that is told, page by page. */
  async function readPages(db: Database, limit: number): Promise<string[]> {
    const read: string[] = [];
    for (let page = await listen(db, { limit }); page.data.length > 0;) {
      read.push(...typesOf(page));
      page = await listen(db, { limit, after: page.next_after });
    }
    return read;
  }

  test("each change is told once, in its place, also if the newest submission was deleted meanwhile", async () => {
    const { db, endpoint } = await world();
    const [, second] = await storeSubmissions(db, [
      { endpointId: endpoint, createdAt: NOON },
      { endpointId: endpoint, createdAt: NOON },
    ]);
    await performOn(db, pauseEndpoint, { endpoint });
    await write(db, `DELETE FROM submission WHERE id = '${second ?? ""}'`);
    await performOn(db, resumeEndpoint, { endpoint });
    await storeSubmissions(db, [{ endpointId: endpoint, createdAt: NOON }]);
    for (const limit of [1, 2, 3, 4])
      expect(await readPages(db, limit)).toEqual([
        "endpoint.create",
        "endpoint.create",
        "submission.stored",
        "endpoint.pause",
        "endpoint.resume",
        "submission.stored",
      ]);
  });

  test("who begins and reads page by page is not told gone because old changes had to go", async () => {
    const { db, endpoint } = await world();
    await storeSubmissions(db, [
      { endpointId: endpoint, createdAt: NOON },
      { endpointId: endpoint, createdAt: NOON },
    ]);
    await performOn(db, pauseEndpoint, { endpoint });
    await write(db, "DELETE FROM audit_event WHERE id <= 2");
    expect(await readPages(db, 1)).toEqual(["submission.stored", "submission.stored", "endpoint.pause"]);
  });

  test("events are kept for 7 days, and a place of before is gone, as is one of another database", async () => {
    const { db, endpoint } = await world();
    const { next_after: after } = await listen(db);
    const later = await listen(db, { after }, undefined, NOON + 7 * DAY_MS);
    expect(later.data).toEqual([]);
    await expect(listen(db, { after }, undefined, NOON + 7 * DAY_MS + 1)).rejects.toMatchObject({
      code: "gone",
    });
    // Nothing happened, but it was asked meanwhile.
    const now = NOON + 7 * DAY_MS + 1;
    await performOn(db, resumeEndpoint, { endpoint }, { now });
    const heard = await listen(db, { after: later.next_after }, undefined, now);
    expect(typesOf(heard)).toEqual(["endpoint.resume"]);
    expect(typesOf(await listen(db, {}, undefined, now))).toEqual(["endpoint.resume"]);
    const empty = await temporary();
    await expect(listen(empty, { after: heard.next_after }, undefined, now)).rejects.toMatchObject({
      code: "gone",
    });
    await write(db, "DELETE FROM audit_event WHERE id <= 2");
    await expect(listen(db, { after: (await listen(db)).next_after })).resolves.toMatchObject({ data: [] });
  });
});
