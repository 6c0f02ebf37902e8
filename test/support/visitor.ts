import type { Clock } from "../../src/foundation/clock.ts";
import { startSession } from "../../src/sessions/session.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import type { Answer } from "./http-client.ts";
import type { TestServer } from "./test-server.ts";

/**
 * A person who is signed in to the dashboard. Requests have what a browser sends: a cookie, and the headers of a request from our own
 * pages.
 */
export interface Visitor {
  readonly accountId: string;
  /** The cookie as the browser sends it. */
  readonly cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a form. */
  post(
    path: string,
    form?: Record<string, string> | URLSearchParams,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** The part of a server that a visitor needs. */
type Visited = Pick<TestServer, "owner" | "request"> & { readonly clock: Clock };

/** Signs in a person. Makes the account with its workspace if it does not exist. The first account is an operator. */
export async function visit(server: Visited, email = "ada@example.com"): Promise<Visitor> {
  const { owner, clock } = server;
  const known = owner.now(() => listAccounts()).find((account) => account.email === email);
  const account = known ?? owner.now(() => insertAccountRows(email, clock.now())).account;
  const browser = { userAgent: "Test browser", ipAddress: null };
  const session = owner.now(() => startSession(account.id, browser, clock.now()));
  const cookie = `formsvc-session=${session.cookie}`;
  return {
    accountId: account.id,
    cookie,
    get: (path, headers = {}) => server.request({ method: "GET", path, headers: { cookie, ...headers } }),
    post: (path, form = {}, headers = {}) =>
      server.request({
        method: "POST",
        path,
        headers: {
          cookie,
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "same-origin",
          ...headers,
        },
        body: new URLSearchParams(form).toString(),
      }),
  };
}
