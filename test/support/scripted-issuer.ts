import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

type Json = Record<string, unknown>;

/** The false statements of an issuer. Each function makes one from the right statement. */
export interface Lies {
  metadata?: (right: Json) => Json;
  claims?: (right: Json) => Json;
  header?: (right: Json) => Json;
  /** Changes the third part of the ID token. */
  signature?: (right: string) => string;
  userinfo?: Json;
  /** Answers a path by hand, instead of the right answer. */
  answers?: Partial<Record<Place, (request: IncomingMessage, response: ServerResponse) => void>>;
}

type Place = "/.well-known/openid-configuration" | "/jwks" | "/token" | "/userinfo";

/** An OpenID issuer that states what a test wants, with real signatures. */
export interface ScriptedIssuer {
  readonly issuer: string;
  /** The test changes this while it runs. */
  readonly lies: Lies;
  /** The paths of the requests so far. */
  readonly asked: string[];
  /** Signs in a person and returns the query of the return address. @param address the address to which our server redirected the person */
  readonly signIn: (address: string, person: Json) => URLSearchParams;
  readonly stop: () => Promise<void>;
}

interface Grant {
  readonly person: Json;
  readonly nonce: string;
  readonly challenge: string;
}

export const CLIENT = { clientId: "forms", clientSecret: "the secret of the client" };

/** Starts the issuer. It is stopped after the test. */
export async function startScriptedIssuer(): Promise<ScriptedIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const grants = new Map<string, Grant>();
  const lies: Lies = {};
  const asked: string[] = [];
  let issuer = "";

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const place = (request.url ?? "").split("?", 1)[0] as Place;
    asked.push(place);
    const byHand = lies.answers?.[place];
    if (byHand !== undefined) return byHand(request, response);
    if (place === "/.well-known/openid-configuration") {
      const right = metadataOf(issuer);
      return send(response, 200, lies.metadata?.(right) ?? right);
    }
    if (place === "/jwks")
      return send(response, 200, {
        keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "RS256" }],
      });
    if (place === "/userinfo") return send(response, 200, lies.userinfo ?? {});
    const form = new URLSearchParams(await text(request));
    // A code stays valid here for ever and for any number of uses, because our server must not rely on the issuer to refuse it.
    const grant = grants.get(form.get("code") ?? "");
    const proved = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === undefined || grant.challenge !== proved || !isClient(request))
      return send(response, 400, { error: "invalid_grant", error_description: "no such <b>code</b>" });
    return send(response, 200, {
      access_token: "a-secret-access-token",
      token_type: "Bearer",
      id_token: makeToken(privateKey, claimsOf(issuer, grant), lies),
    });
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(async () => {
    if (server.listening) await stop();
  });
  return {
    issuer,
    lies,
    asked,
    signIn(address, person) {
      const query = new URL(address).searchParams;
      const code = `code-${grants.size}`;
      const [nonce, challenge] = [query.get("nonce") ?? "", query.get("code_challenge") ?? ""];
      grants.set(code, { person, nonce, challenge });
      return new URLSearchParams({ code, state: query.get("state") ?? "", iss: issuer });
    },
    stop,
  };
}

function metadataOf(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/end`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    scopes_supported: ["openid", "email", "groups"],
    authorization_response_iss_parameter_supported: true,
  };
}

function claimsOf(issuer: string, { person, nonce }: Grant): Json {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: CLIENT.clientId, iat: now, exp: now + 300, nonce, ...person };
}

function isClient({ headers }: IncomingMessage): boolean {
  const [id, secret] = [CLIENT.clientId, CLIENT.clientSecret].map((part) =>
    encodeURIComponent(part).replaceAll("%20", "+"),
  );
  return headers.authorization === `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
}

function makeToken(key: KeyObject, rightClaims: Json, { claims, header, signature }: Lies): string {
  const right = { alg: "RS256", kid: "one" };
  const parts = [header?.(right) ?? right, claims?.(rightClaims) ?? rightClaims];
  const content = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const proof = sign("sha256", Buffer.from(content), key).toString("base64url");
  return `${content}.${signature?.(proof) ?? proof}`;
}

function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
