import type { AnyDatabase } from "../../src/database/any-database.ts";
import { type Scope, SCOPES } from "../../src/operations/access.ts";
import { createToken } from "../../src/tokens/token-operations.ts";
import type { Answer } from "./http-client.ts";
import { performOn } from "./terminal.ts";
import type { TestServer } from "./test-server.ts";

/** The owner and the limits of a token. If no owner is named, the only account owns it. */
interface TokenOwner {
  readonly account?: string;
  readonly workspace?: string;
  readonly endpoint?: string;
  readonly expires_in_ms?: number | null;
}

/** Creates a token with these scopes and returns its text. */
export async function makeToken(
  { owner, clock }: { readonly owner: AnyDatabase; readonly clock: { now(): number } },
  scopes: readonly Scope[] = SCOPES,
  whose: TokenOwner = {},
): Promise<string> {
  const input = { name: "test", scopes, ...whose };
  return (await performOn(owner, createToken, input, { now: clock.now() })).secret;
}

export interface ApiRequest {
  readonly query?: string;
  /** The body of the request. A value that is neither text nor bytes is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Sends one request to the API. */
export type Ask = (method: string, path: string, request?: ApiRequest) => Promise<Answer>;

export function askWith(server: Pick<TestServer, "request">, token: string | null): Ask {
  return (method, path, { query = "", body, headers = {} } = {}) =>
    server.request({
      method,
      path: `/api/v1${path}${query === "" ? "" : `?${query}`}`,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    });
}
