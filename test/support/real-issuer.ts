import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { onTestFinished } from "vitest";
import { freePort } from "./postgresql-cluster.ts";
import { CLIENT } from "./scripted-issuer.ts";

export interface RealIssuer {
  readonly issuer: string;
}

/**
 * Starts a real OpenID provider, with its own pages, on which a person signs in as the e-mail address that they type. It is at `localhost`,
 * so that a browser takes it for another site than a server at `127.0.0.1`. It is stopped after the test.
 * @param site the origin of our server
 */
export async function startRealIssuer(
  site: string,
  groups: Readonly<Record<string, readonly string[]>> = {},
): Promise<RealIssuer> {
  const issuer = `http://localhost:${await freePort()}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${site}/dashboard/sign-in/oidc/callback`],
        post_logout_redirect_uris: [`${site}/dashboard/sign-in`],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: true, groups: [...(groups[id] ?? [])] }),
    }),
    cookies: { keys: ["a key of the cookies of the test"] },
  });
  const handle = provider.callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(Number(new URL(issuer).port), "localhost", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { issuer };
}
