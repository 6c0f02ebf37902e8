import { makeSignInLink } from "../../src/sessions/sign-in-link.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import type { Answer } from "./http-client.ts";
import type { TestServer } from "./test-server.ts";

export const ADA = "ada@example.com";
export const PASSWORD = "correct horse battery";

type Headers = Record<string, string>;

/**
 * Returns functions that ask for the sign-in pages of a server, as a browser without a session does. Makes an account only if there is
 * none.
 */
export function signInForms(server: TestServer) {
  const { owner, clock } = server;
  if (owner.now(() => listAccounts()).length === 0) owner.now(() => insertAccountRows(ADA, clock.now()));
  const post = (path: string, form: Record<string, string>, headers: Headers = {}): Promise<Answer> =>
    server.request({
      method: "POST",
      path: `/dashboard${path}`,
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
        ...headers,
      },
      body: new URLSearchParams(form).toString(),
    });
  const link = (): string => owner.now(() => makeSignInLink(ADA, clock.now())).token;
  return {
    post,
    link,
    useLink: (form: Record<string, string> = {}, headers: Headers = {}) =>
      post("/sign-in/link", { token: form["token"] ?? link(), new_password: PASSWORD, ...form }, headers),
    signIn: (form: Record<string, string> = {}, headers: Headers = {}) =>
      post("/sign-in", { email: ADA, password: PASSWORD, ...form }, headers),
  };
}

/** Returns the cookie that an answer sets, as the browser sends it back. */
export function cookieOf({ headers }: Answer): string {
  return headers["set-cookie"]?.split(";")[0] ?? "";
}
