import type * as OpenidClient from "openid-client";
import { FormsvcError } from "../foundation/errors.ts";
import { Semaphore } from "../foundation/semaphore.ts";
import { SingleFlight } from "../foundation/single-flight.ts";
import { ANSWER_TIMEOUT_MS, boundedFetch } from "./bounded-fetch.ts";
import type { Flow } from "./browser-flow.ts";
import { describeFailure, NoConfiguration } from "./oidc-failure.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import { readPerson, type Person } from "./oidc-person.ts";
import { HOUR_MS } from "../foundation/time-units.ts";

type Library = typeof OpenidClient;

/**
 * The OpenID issuer, at which people prove who they are. Each method throws unauthorized if the issuer refuses or its answer is wrong,
 * unavailable if it does not answer.
 */
export interface Issuer {
  readonly settings: OidcSettings;
  /** Returns the address to which a browser goes to sign in. */
  begin(flow: Flow): Promise<string>;
  /**
   * Returns the person who came back. @param query the query of the return address. @param line the line that the caller
   * waits in.
   */
  finish(flow: Flow, query: URLSearchParams, line: string): Promise<Person>;
  /** The address to which a browser goes to sign out; null if the issuer names none, or does not answer. */
  signOutAddress(): Promise<string | null>;
  /** Reads the issuer's configuration again, and checks that it names what a sign-in needs. */
  look(): Promise<void>;
}

export interface ReturnAddresses {
  readonly signedIn: string;
  readonly signedOut: string;
}

/** The issuer's configuration is read again after this time. */
const REMEMBERED_MS = HOUR_MS;
/** A failure is thrown again for this time, so that an issuer that does not answer is not asked for each visitor. */
const FAILURE_REMEMBERED_MS = 2000;
/** The limits on answers that are fetched at once. */
const EXCHANGES = {
  maxRunning: 8,
  maxWaiting: 64,
  refusal: "Too many people sign in at this moment; try again shortly.",
};
/**
 * @param onFailure called for each failed step, with a reason that has no token and no claim. @param nowMs returns monotonic milliseconds.
 */
export function createIssuer(
  settings: OidcSettings,
  addresses: ReturnAddresses,
  onFailure: (step: string, reason: string) => void,
  nowMs: () => number = () => performance.now(),
): Issuer {
  const connection = new Connection(settings, onFailure, nowMs);
  const exchanges = new Semaphore(EXCHANGES);
  return {
    settings,
    begin: (flow) =>
      connection.step("begin", async (library, configuration) => {
        const address = library.buildAuthorizationUrl(configuration, {
          redirect_uri: addresses.signedIn,
          scope: scopesFor(settings, configuration.serverMetadata()),
          state: flow.secretOf("state"),
          nonce: flow.secretOf("nonce"),
          code_challenge: await library.calculatePKCECodeChallenge(flow.secretOf("verifier")),
          code_challenge_method: "S256",
        });
        return address.href;
      }),
    finish(flow, query, line) {
      const returned = new URL(`${addresses.signedIn}?${query.toString()}`);
      const exchange = (): Promise<Person> =>
        connection.step("finish", (...asked) => askWho(settings, flow, returned, asked));
      return exchanges.run(exchange, line);
    },
    async signOutAddress() {
      try {
        return await connection.step("sign out", (library, configuration) => {
          if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
          const back = { post_logout_redirect_uri: addresses.signedOut };
          return library.buildEndSessionUrl(configuration, back).href;
        });
      } catch (error) {
        if (error instanceof FormsvcError) return null;
        throw error;
      }
    },
    look: () =>
      connection.step("look", (_library, configuration) =>
        requireAddresses(settings, configuration.serverMetadata()),
      ),
  };
}

type Asked = readonly [Library, OpenidClient.Configuration];

/** The issuer's configuration, which is read when the first step needs it, and then kept in memory. */
class Connection {
  readonly #settings: OidcSettings;
  readonly #onFailure: (step: string, reason: string) => void;
  readonly #nowMs: () => number;
  readonly #discoveries = new SingleFlight<OpenidClient.Configuration>();
  #known: { readonly configuration: OpenidClient.Configuration; readonly at: number } | null = null;
  #failed: { readonly error: unknown; readonly at: number } | null = null;

  constructor(
    settings: OidcSettings,
    onFailure: (step: string, reason: string) => void,
    nowMs: () => number,
  ) {
    this.#settings = settings;
    this.#onFailure = onFailure;
    this.#nowMs = nowMs;
  }

  /** Runs a step with the library, which the first step loads. @throws unauthorized, unavailable */
  async step<Result>(name: string, work: (...asked: Asked) => Promise<Result> | Result): Promise<Result> {
    const library = await import("openid-client");
    try {
      return await work(library, await this.#configuration(library));
    } catch (error) {
      const { reason, errorFor } = describeFailure(library, error);
      this.#onFailure(name, reason);
      throw errorFor(this.#settings.label);
    }
  }

  async #configuration(library: Library): Promise<OpenidClient.Configuration> {
    const now = this.#nowMs();
    if (this.#known !== null && now - this.#known.at < REMEMBERED_MS) return this.#known.configuration;
    if (this.#failed !== null && now - this.#failed.at < FAILURE_REMEMBERED_MS) throw this.#failed.error;
    return this.#discoveries.run(async () => {
      try {
        const configuration = await readConfiguration(library, this.#settings);
        this.#known = { configuration, at: this.#nowMs() };
        return configuration;
      } catch (error) {
        this.#failed = { error, at: this.#nowMs() };
        throw error;
      }
    });
  }
}

/** @throws unauthorized */
function requireAddresses({ issuer, label }: OidcSettings, metadata: OpenidClient.ServerMetadata): void {
  const isPlain = issuer.startsWith("http:");
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    const address = metadata[name];
    const protocol = address !== undefined && URL.canParse(address) ? new URL(address).protocol : null;
    if (protocol === "https:" || (isPlain && protocol === "http:")) continue;
    const what = address === undefined ? `names no ${name}` : `names a ${name} that is no https address`;
    throw new FormsvcError("unauthorized", `${label} ${what}, so nobody can sign in by it.`);
  }
}

async function askWho(
  settings: OidcSettings,
  flow: Flow,
  returned: URL,
  [library, configuration]: Asked,
): Promise<Person> {
  const tokens = await library.authorizationCodeGrant(configuration, returned, {
    expectedState: flow.secretOf("state"),
    expectedNonce: flow.secretOf("nonce"),
    pkceCodeVerifier: flow.secretOf("verifier"),
    idTokenExpected: true,
  });
  const claims: Record<string, unknown> = { ...tokens.claims() };
  const askMore = (): Promise<Record<string, unknown>> =>
    configuration.serverMetadata().userinfo_endpoint === undefined
      ? Promise.resolve({})
      : library.fetchUserInfo(configuration, tokens.access_token, String(claims["sub"]));
  return readPerson(claims, askMore, settings);
}

async function readConfiguration(
  library: Library,
  settings: OidcSettings,
): Promise<OpenidClient.Configuration> {
  const { issuer, clientId, clientSecret } = settings;
  const address = new URL(issuer);
  const isPlain = address.protocol === "http:";
  // The method is chosen when the secret is first sent, because by then it is known what the issuer accepts.
  const authenticate: OpenidClient.ClientAuth = (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    if (methods.includes("client_secret_basic"))
      return headers.set("authorization", basicOf(clientId, clientSecret));
    return library.ClientSecretPost(clientSecret)(server, client, body, headers);
  };
  try {
    return await library.discovery(address, clientId, undefined, authenticate, {
      [library.customFetch]: (url, options) => boundedFetch(url, options as RequestInit),
      timeout: ANSWER_TIMEOUT_MS / 1000,
      // The signature of an ID token is checked, even though it came over an encrypted connection.
      execute: [library.enableNonRepudiationChecks, ...(isPlain ? [library.allowInsecureRequests] : [])],
    });
  } catch (error) {
    throw new NoConfiguration("discovery failed", { cause: error });
  }
}

/**
 * The credentials in the encoding of a form (RFC 6749, section 2.3.1). The library also encodes a hyphen as `%2D`; a provider that does not
 * decode them, like Glewlwyd, then sees another client.
 */
function basicOf(clientId: string, clientSecret: string): string {
  const asInForm = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${asInForm(clientId)}:${asInForm(clientSecret)}`).toString("base64")}`;
}

/** The scopes to ask for. Some issuers send groups only if they are asked for them. */
function scopesFor(
  { operatorGroup }: OidcSettings,
  { scopes_supported = [] }: OpenidClient.ServerMetadata,
): string {
  const asksForGroups = operatorGroup !== null && scopes_supported.includes("groups");
  return ["openid", "email", ...(asksForGroups ? ["groups"] : [])].join(" ");
}
