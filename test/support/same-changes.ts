import { expect, onTestFinished } from "vitest";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import { CHANGE_WORDS } from "../../src/dashboard/system/change-words.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { createLog } from "../../src/foundation/log.ts";
import { SCOPES } from "../../src/operations/access.ts";
import { startServer } from "../../src/server/start-server.ts";
import { insertTokenRow } from "../../src/tokens/token-store.ts";
import { makeTokenText } from "../../src/tokens/token.ts";
import { type Ask, askWith } from "./api-client.ts";
import { sendRequest } from "./http-client.ts";
import { operatorMachine } from "./operator-machine.ts";
import { furnish, type OwnerHome } from "./owner-home.ts";
import { formOf } from "./page.ts";
import { startReceiverWith } from "./receivers.ts";
import { changeEachWay } from "./same-change.ts";
import { startServer as startTestServer, type TestServer } from "./test-server.ts";
import { until } from "./until.ts";
import { visit, type Visitor } from "./visitor.ts";

const ADA = "ada@example.com";
const NO_LIMITS = { monthlySubmissions: null, endpoints: null, heldBytes: null, fileBytes: null };
const UNLIMITED = { ...NO_LIMITS, customSpam: true };
const SHARED = { plans: { hobby: UNLIMITED, pro: UNLIMITED }, held: { ...defaultConfig.held, days: null } };

const config: Config = { ...defaultConfig, ...SHARED, server: { ...defaultConfig.server, port: 0 } };
const log = createLog("fatal", { write: () => {} });

/** A change that a person makes in the dashboard. */
export type PageWrite = (visitor: Visitor) => Promise<void>;

/** A request to the API. The path is below `/api/v1`. */
type ApiWrite = readonly [method: string, path: string, body?: unknown, query?: string];

/** A change: the actions of its audit events, with a space between them, and the ways to make it. */
type Change = readonly [actions: string, page: PageWrite, command: readonly string[], api?: ApiWrite];

/** Makes a change by sending a form of a page with these values. */
export function sending(
  page: string,
  values: Record<string, string>,
  action = page,
  status = 303,
): PageWrite {
  return async (visitor) => {
    const form = formOf((await visitor.get(page)).text, action).values;
    for (const [name, value] of Object.entries(values)) form.set(name, value);
    const answer = await visitor.post(action, form);
    expect(answer.status, `${action}: ${answer.text}`).toBe(status);
  };
}

/** Makes a change that the page asks to confirm, and confirms it. */
export function confirming(action: string, values: Record<string, string>): PageWrite {
  return async (visitor) => {
    const asked = await visitor.post(action, values);
    const form = formOf(asked.text, action).values;
    expect((await visitor.post(action, form)).status).toBe(303);
  };
}

/**
 * Makes everything that Ada owns, and waits until nothing is left to send, because the dashboard's server would send it and a command would
 * not.
 */
export async function begin(): Promise<{ server: TestServer; home: OwnerHome }> {
  const server = await startTestServer(SHARED);
  const receiver = await startReceiverWith((response) => response.writeHead(204).end());
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  server.clock.set(Date.now() - 60_000);
  const home = await furnish(server, ADA, { receiverUrl: receiver.url });
  await until(() => server.owner.prepare("SELECT 1 FROM delivery WHERE state = 'delivered'").get());
  return { server, home };
}

/** Does something as Ada on a server over a copy of the database. */
async function onServer(
  db: SqliteDatabase,
  work: (served: { readonly visitor: Visitor; readonly ask: Ask }) => Promise<void>,
): Promise<void> {
  const running = await startServer({ db, config, clock: systemClock, log });
  const request = (made: Parameters<typeof sendRequest>[1]) => sendRequest(running.url, made);
  const visitor = await visit({ owner: db, clock: systemClock, request }, ADA);
  const secret = makeTokenText();
  const token = { name: "test", workspaceId: null, endpointId: null, scopes: SCOPES, expiresAt: null };
  db.now(() => insertTokenRow({ ...token, accountId: visitor.accountId }, secret, Date.now()));
  await work({ visitor, ask: askWith({ request }, secret.text) });
  await running.stop();
}

/**
 * Makes changes in the dashboard, by commands and, if every change has a request, over the API. Expects the same rows and the same audit
 * events each way.
 * @param changes each with its actions, the way in the dashboard, the command and the request. @returns the rows
 */
export async function sameChanges(
  { owner }: TestServer,
  changes: readonly Change[],
): Promise<readonly string[]> {
  const machine = operatorMachine(SHARED);
  const inDashboard = (db: SqliteDatabase): Promise<void> =>
    onServer(db, async ({ visitor }) => {
      for (const [, page] of changes) await page(visitor);
    });
  const overApi = (db: SqliteDatabase): Promise<void> =>
    onServer(db, async ({ ask }) => {
      for (const [, , , [method, path, body, query = ""] = ["GET", "/none"]] of changes) {
        const answer = await ask(method, path, { body, query });
        expect([path, answer.status < 300, answer.text.slice(0, 300)]).toEqual([
          path,
          true,
          expect.anything(),
        ]);
      }
    });
  const hasApi = changes.every(([, , , api]) => api !== undefined);
  const recorded = Number(owner.prepare("SELECT count(*) FROM audit_event").pluck().get());
  const account = owner.prepare("SELECT id FROM account WHERE email = ?").pluck().get(ADA);
  const { command, verbs } = await changeEachWay(
    machine,
    owner,
    hasApi ? [inDashboard, overApi] : [inDashboard],
    ...changes.map(([, , words]) => words),
  );
  // Sessions, read marks and tokens belong to the way in which a change is made, and so does the account in an audit event. The clock is
  // noted by a server, and not by a command.
  const kept = (all: readonly string[]) =>
    all
      .filter((row) => !row.startsWith("clock_seen "))
      .filter(
        (row) => !(/^(?:session|submission_read|api_token) /.test(row) && row.includes(String(account))),
      )
      .map((row) =>
        row
          .replace(/^(audit_event .*)"account_id":[^,]*,"email":[^,]*/, "$1")
          .replace(/^(audit_event .*)"token_id":[^,]*,"token_name":[^,]*/, "$1")
          .replace(/^((?:member|invitation) .*)"by_account_id":[^,}]*/, "$1")
          .replace(/^(submission_note .*)"author":[^,]*/, "$1"),
      )
      .toSorted();
  const rows = kept(command);
  for (const others of verbs) expect(kept(others)).toEqual(rows);
  const numberOf = (row: string): number => Number(/"id":(\d+)/.exec(row)?.[1]);
  const made = rows
    .filter((row) => row.startsWith("audit_event "))
    .toSorted((one, other) => numberOf(one) - numberOf(other));
  const actions = made.map((row) => /"action":"([^"]+)"/.exec(row)?.[1] ?? "");
  const expected = changes.flatMap(([actionsOfChange]) => actionsOfChange.split(" "));
  expect(actions.slice(recorded)).toEqual(expected);
  for (const action of actions) expect(CHANGE_WORDS).toHaveProperty([action]);
  return rows;
}

/** Counts the rows that match. */
export function countRows(rows: readonly string[], pattern: RegExp): number {
  return rows.filter((row) => pattern.test(row)).length;
}
