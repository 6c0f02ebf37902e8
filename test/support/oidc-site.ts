import { findViewer } from "../../src/sessions/session.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import type { Account } from "../../src/workspaces/workspace.ts";
import type { Answer } from "./http-client.ts";
import { BASE_URL } from "./mailed-site.ts";
import { CLIENT, type ScriptedIssuer, startScriptedIssuer } from "./scripted-issuer.ts";
import { type ConfigOverrides, startServer, type TestServer } from "./test-server.ts";

/** The claims of an issuer about a person whose e-mail address it has verified. */
export const ANA = { sub: "subject-of-ana", email: "ana@example.org", email_verified: true };

/** A browser's sign-in that has begun: its cookie, and the address at the issuer to which it was redirected. */
interface Way {
  readonly cookie: string;
  readonly address: string;
}

/** Starts a server whose people sign in with a scripted issuer. The first account, `root@example.com`, belongs to an operator. */
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
    /** Signs in from beginning to end. @param person the claims of the issuer about the person */
    signIn: async (person: Record<string, unknown> = ANA): Promise<Answer> => {
      const { address, cookie } = await begin();
      return comeBack(issuer.signIn(address, person), cookie);
    },
    addAccount: (email: string): Account =>
      server.owner.now(() => insertAccountRows(email, server.clock.now())).account,
    accountOf: (email: string): Account | undefined =>
      server.owner.now(() => listAccounts()).find((account) => account.email === email),
    /** The e-mail address of the account whose session an answer begins; undefined if it begins none. */
    signedInBy: (answer: Answer): string | undefined => {
      const [, value = ""] = cookieNamed(answer, "formsvc-session").split("=", 2);
      const settings = server.config.dashboard;
      return server.owner.now(() => findViewer(value, server.clock.now(), settings))?.email;
    },
  };
}

/** The cookie as the browser sends it back; empty if the answer does not set it. */
export function cookieNamed({ headers }: Answer, name: string): string {
  return new RegExp(`(?:^|, *)(${name}=[^;,]+)`).exec(headers["set-cookie"] ?? "")?.[1] ?? "";
}

/** The reason that a page gives for a refusal; empty if it gives none. */
export function problemOf({ text }: Answer): string {
  return (/role="alert">([^<]*)</.exec(text)?.[1] ?? "").replaceAll("&#39;", "'");
}
