import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresql, type PostgresqlDatabase } from "../../src/database/postgresql/open-postgresql.ts";
import { startSession } from "../../src/sessions/session.ts";
import { createToken } from "../../src/tokens/token-operations.ts";
import { storeMember } from "../../src/workspaces/member-store.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import type { ServerHere } from "../support/machine-database.ts";
import { type ManyServers, startManyHere } from "../support/many-servers.ts";
import { rowsOf } from "../support/engines.ts";
import { EDITOR } from "../support/members.ts";
import { patiently, postPatiently } from "../support/posts.ts";
import { addressForFile, hasPostgresql } from "../support/temporary-postgresql.ts";
import { performOn } from "../support/terminal.ts";
import { until } from "../support/until.ts";

/*
 * Nothing of who is a member is remembered by a server, so the promised second is not waited for: the first request after the removal must
 * be answered like a stranger's.
 */

interface Person {
  readonly email: string;
  readonly accountId: string;
  readonly cookie: string;
}

describe.skipIf(!hasPostgresql)("a member who is removed at one of two servers", () => {
  let db: PostgresqlDatabase;
  let many: ManyServers<ServerHere>;
  let first: string;
  let second: string;

  beforeAll(async () => {
    const address = await addressForFile();
    db = await openPostgresql(address);
    many = await startManyHere(address, 2);
    [first = "", second = ""] = many.servers.map(({ url }) => url);
  });
  afterAll(async () => {
    await db.close();
    await many.stop();
  });

  async function person(email: string): Promise<Person> {
    const { account } = await db.transaction(() => insertAccountRows(email, Date.now()));
    const browser = { userAgent: "Test browser", ipAddress: null };
    const session = await db.transaction(() => startSession(account.id, browser, Date.now()));
    return { email, accountId: account.id, cookie: `formsvc-session=${session.cookie}` };
  }

  /** A page's status, or another answer's; a server that is busy is asked again. */
  async function ask(url: string, headers: Record<string, string>, method = "GET"): Promise<number> {
    const marks = method === "POST" ? { "sec-fetch-site": "same-origin" } : {};
    const answer = await patiently(() =>
      fetch(url, { method, headers: { ...headers, ...marks }, redirect: "manual" }),
    );
    await answer.body?.cancel();
    return answer.status;
  }

  /** What a stream of news told so far. */
  async function follow({ cookie }: Person): Promise<{ readonly told: () => number; end(): Promise<void> }> {
    const ending = new AbortController();
    const answer = await patiently(() =>
      fetch(`${second}/dashboard/events`, { headers: { cookie }, signal: ending.signal }),
    );
    let text = "";
    const reading = (async () => {
      for await (const chunk of answer.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await until(() => text.includes("retry:"));
    return {
      told: () => text.split("event: new").length - 1,
      async end() {
        ending.abort();
        await reading;
      },
    };
  }

  test("sees nothing of the workspace at the other from the next request on, by session and by token, and hears of no further post", async () => {
    // It makes the first account, which is the operator's.
    const { id: endpoint, secret } = await many.machine.createEndpoint();
    const [owner, member] = [await person("owner@example.com"), await person("member@example.com")];
    const sql = "SELECT workspace_id FROM endpoint";
    const workspaceId = (await rowsOf<{ workspace_id: string }>(db, sql))[0]?.workspace_id ?? "";
    const join = async ({ accountId }: Person, role: "owner" | "editor") =>
      db.transaction(() =>
        storeMember({ workspaceId, accountId }, { ...EDITOR, role }, { since: 1, byAccountId: null }),
      );
    await join(owner, "owner");
    await join(member, "editor");
    const { secret: token } = await performOn(
      db,
      createToken,
      { name: "Own", scopes: ["submissions:read", "endpoints:read"] },
      { actor: { kind: "account", ...member, isOperator: false }, now: Date.now() },
    );
    const submission = await postPatiently(second, secret);
    const addresses = [
      [`${second}/dashboard/submissions/${submission}`, { cookie: member.cookie }],
      [`${second}/dashboard/endpoints/${endpoint}`, { cookie: member.cookie }],
      [`${second}/dashboard?workspace=${workspaceId}`, { cookie: member.cookie }],
      [`${second}/api/v1/submissions/${submission}`, { authorization: `Bearer ${token}` }],
      [`${second}/api/v1/endpoints/${endpoint}`, { authorization: `Bearer ${token}` }],
    ] as const;
    const askAll = async () => {
      const statuses: number[] = [];
      for (const [url, headers] of addresses) statuses.push(await ask(url, headers));
      return statuses;
    };
    expect(await askAll()).toEqual([200, 200, 200, 200, 200]);
    const [removed, staying] = [await follow(member), await follow(owner)];
    await postPatiently(first, secret);
    await until(() => removed.told() === 1 && staying.told() === 1);

    const page = `${first}/dashboard/workspaces/${workspaceId}/members/${member.accountId}/remove`;
    expect(await ask(page, { cookie: owner.cookie }, "POST")).toBe(303);
    expect(await askAll()).toEqual([404, 404, 404, 404, 404]);
    await postPatiently(first, secret);
    // The one who stays is told after the one who was removed would have been.
    await until(() => staying.told() === 2);
    expect(removed.told()).toBe(1);
    await Promise.all([removed.end(), staying.end()]);
  });
});
