import { findViewer } from "../../src/sessions/session.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import type { Account } from "../../src/workspaces/workspace.ts";
import type { Answer } from "./http-client.ts";
import { BASE_URL } from "./mailed-site.ts";
import { CLIENT, type ScriptedIssuer, startScriptedIssuer } from "./scripted-issuer.ts";
import { type ConfigOverrides, startServer, type TestServer } from "./test-server.ts";

/** What an issuer says of somebody whom it knows well. */
export const ANA = { sub: "subject-of-ana", email: "ana@example.org", email_verified: true };

/** A browser's way to the issuer and back. */
interface Way {
  readonly cookie: string;
  readonly address: string;
}

/** A server whose people sign in by a scripted issuer. The first account is an operator's, `root@example.com`. */
export async function startOidcSite(oidc: ConfigOverrides["oidc"] = {}, overrides: ConfigOverrides = {}) {
  const issuer = await startScriptedIssuer();
  const server = await startServer({
    server: { port: 0, baseUrl: BASE_URL },
    oidc: { issuer: issuer.issuer, ...CLIENT, label: "Example ID", ...oidc },
    ...overrides,
  });
  server.owner.now(() => insertAccountRows("root@example.com", server.clock.now()));
  return { server, issuer, ...journeys(server, issuer) };
}

function journeys(server: TestServer, issuer: ScriptedIssuer) {
  const get = (path: string, cookie = ""): Promise<Answer> =>
    server.request({ method: "GET", path, ...(cookie !== "" && { headers: { cookie } }) });
  const begin = async (next = "/dashboard"): Promise<Way> => {
    const led = await get(`/dashboard/sign-in/oidc?next=${encodeURIComponent(next)}`);
    if (led.status !== 303) throw new Error(`led nowhere: ${led.status} ${led.text}`);
    return { address: led.headers["location"] ?? "", cookie: cookieNamed(led, "formsvc-flow") };
  };
  const comeBack = (query: URLSearchParams, cookie: string): Promise<Answer> =>
    get(`/dashboard/sign-in/oidc/callback?${query.toString()}`, cookie);
  return {
    get,
    begin,
    comeBack,
    /** All of it, with whom the issuer then names. */
    signIn: async (person: Record<string, unknown> = ANA): Promise<Answer> => {
      const { address, cookie } = await begin();
      return comeBack(issuer.signIn(address, person), cookie);
    },
    addAccount: (email: string): Account =>
      server.owner.now(() => insertAccountRows(email, server.clock.now())).account,
    accountOf: (email: string): Account | undefined =>
      server.owner.now(() => listAccounts()).find((account) => account.email === email),
    /** Whose session an answer begins; undefined if it begins none. */
    signedInBy: (answer: Answer): string | undefined => {
      const [, value = ""] = cookieNamed(answer, "formsvc-session").split("=", 2);
      const settings = server.config.dashboard;
      return server.owner.now(() => findViewer(value, server.clock.now(), settings))?.email;
    },
  };
}

/** As the browser sends it back; empty if the answer does not set it. */
export function cookieNamed({ headers }: Answer, name: string): string {
  return new RegExp(`(?:^|, *)(${name}=[^;,]+)`).exec(headers["set-cookie"] ?? "")?.[1] ?? "";
}

/** Why a page refuses. */
export function problemOf({ text }: Answer): string {
  return (/role="alert">([^<]*)</.exec(text)?.[1] ?? "").replaceAll("&#39;", "'");
}
