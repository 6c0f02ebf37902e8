import { hash, randomBytes, randomInt } from "node:crypto";
import { query } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Scope } from "../operations/access.ts";

/** A request of a command line to be logged in. */
export interface LoginRequest {
  readonly userCode: string;
  readonly clientName: string;
  readonly clientAddress: string;
  /** The scopes that it asks for; once it is approved, the scopes that it gets. */
  readonly scopes: readonly Scope[];
  readonly state: "waiting" | "approved" | "denied";
  /** The account that approved it; null before that. */
  readonly accountId: string | null;
  readonly createdAt: number;
}

/** The time in which a request can be approved, and its token be fetched. */
export const LOGIN_MS = 600_000;
/** The seconds between two questions of a client whether its request was approved. */
export const POLL_SECONDS = 2;
/** A question that comes earlier than this is too early. It is less than the interval, because clocks and networks are not exact. */
const TOO_SOON_MS = 1000;
/**
 * The largest number of requests of one client, and of all clients. Once the limit of all clients is reached, a new request replaces the
 * oldest one.
 */
const MAX_OF_CLIENT = 10;
const MAX_REQUESTS = 10_000;
/** Letters that cannot be mistaken for others, and do not spell words. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";

/** Adds a request. Call inside a transaction. @returns the code of the device, which is stored only as a hash. @throws rate_limited */
export function* addLoginRequest(
  asked: Pick<LoginRequest, "clientName" | "clientAddress" | "scopes">,
  now: number,
): Steps<{ readonly deviceCode: string; readonly userCode: string }> {
  yield* dropOldLogins(now);
  const counted = yield* first(
    text<{ own: number; total: number }>(
      "SELECT count(*) AS total, count(CASE WHEN client_address = ? THEN 1 END) AS own FROM login_request",
      asked.clientAddress,
    ),
  );
  if ((counted?.own ?? 0) >= MAX_OF_CLIENT)
    throw new FormsvcError("rate_limited", `more than ${MAX_OF_CLIENT} logins of this address wait already`, {
      retryAfterSeconds: LOGIN_MS / 1000,
    });
  if ((counted?.total ?? 0) >= MAX_REQUESTS)
    yield* run(
      text(
        "DELETE FROM login_request WHERE device_hash = (SELECT device_hash FROM login_request ORDER BY created_at LIMIT 1)",
      ),
    );
  const deviceCode = randomBytes(32).toString("base64url");
  const userCode = makeUserCode();
  yield* run(
    query.insertInto("login_request").values({
      device_hash: digest(deviceCode),
      user_code: userCode,
      client_name: asked.clientName,
      client_address: asked.clientAddress,
      scopes: asked.scopes.join(" "),
      state: "waiting",
      account_id: null,
      polled_at: 0,
      created_at: now,
    }),
  );
  return { deviceCode, userCode };
}

function makeUserCode(): string {
  const letters = Array.from({ length: 8 }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** The code that people typed, in its normal form: case, spaces and hyphens make no difference. */
export function readUserCode(typed: string): string {
  const letters = typed
    .slice(0, 100)
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, "");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** A request that waits. Undefined if the code is wrong, or if the request was decided or has expired. */
export function* findWaitingLogin(userCode: string, now: number): Steps<LoginRequest | undefined> {
  const rows = query.selectFrom("login_request").selectAll().where("user_code", "=", userCode);
  const row = yield* first(rows.where("state", "=", "waiting").where("created_at", ">", now - LOGIN_MS));
  return row === undefined ? undefined : toLogin(row);
}

/** Decides a request. Call inside a transaction. @param accountId the account that approves it; null denies it. */
export function* decideLoginRow(
  userCode: string,
  accountId: string | null,
  scopes: readonly Scope[],
): Steps<void> {
  yield* run(
    query
      .updateTable("login_request")
      .set({
        state: accountId === null ? "denied" : "approved",
        account_id: accountId,
        scopes: scopes.join(" "),
      })
      .where("user_code", "=", userCode),
  );
}

/** The state of a request. `slow_down` if its client asks too often; undefined if the code is unknown or the request has expired. */
export function* pollLogin(deviceCode: string, now: number): Steps<LoginRequest | "slow_down" | undefined> {
  const row = yield* findByDevice(deviceCode, now);
  if (row === undefined) return undefined;
  yield* run(
    query.updateTable("login_request").set({ polled_at: now }).where("device_hash", "=", row.device_hash),
  );
  return now - row.polled_at < TOO_SOON_MS ? "slow_down" : toLogin(row);
}

/** Uses the code up. Call in the transaction that makes the token: a code makes only one. @throws gone */
export function* spendLogin(deviceCode: string, now: number): Steps<void> {
  const row = yield* findByDevice(deviceCode, now);
  if (row?.state !== "approved") throw new FormsvcError("gone", "the code was used already");
  yield* run(query.deleteFrom("login_request").where("device_hash", "=", row.device_hash));
}

/** Deletes requests that have expired. */
function* dropOldLogins(now: number): Steps<void> {
  yield* run(query.deleteFrom("login_request").where("created_at", "<=", now - LOGIN_MS));
}

function* findByDevice(deviceCode: string, now: number) {
  const rows = query.selectFrom("login_request").selectAll().where("device_hash", "=", digest(deviceCode));
  return yield* first(rows.where("created_at", ">", now - LOGIN_MS));
}

function toLogin(row: {
  readonly user_code: string;
  readonly client_name: string;
  readonly client_address: string;
  readonly scopes: string;
  readonly state: string;
  readonly account_id: string | null;
  readonly created_at: number;
}): LoginRequest {
  return {
    userCode: row.user_code,
    clientName: row.client_name,
    clientAddress: row.client_address,
    scopes: row.scopes.split(" ") as Scope[],
    state: row.state as LoginRequest["state"],
    accountId: row.account_id,
    createdAt: row.created_at,
  };
}

function digest(code: string): Buffer {
  return hash("sha256", code, "buffer");
}
