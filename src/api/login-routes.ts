import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit } from "../foundation/ip-address.ts";
import { SCOPES } from "../operations/access.ts";
import { perform } from "../operations/perform.ts";
import {
  addLoginRequest,
  LOGIN_MS,
  type LoginRequest,
  POLL_SECONDS,
  pollLogin,
  spendLogin,
} from "../tokens/login-store.ts";
import { createToken } from "../tokens/token-operations.ts";
import { DEFAULT_EXPIRY_MS } from "../tokens/token.ts";
import { getAccount } from "../workspaces/workspace-store.ts";
import { boundBodies } from "./body-limit.ts";
import { asking, beginning, type begun, FORM, type granted, PROBLEMS } from "./login-shapes.ts";
import type { ServedParts } from "./parts.ts";

/** The largest body, in bytes. */
const MAX_BYTES = 8192;
/** The largest number of logins that one address may begin within the lifetime of a login. */
const BEGINNINGS = { max: 20, windowSeconds: LOGIN_MS / 1000 };

/**
 * The routes by which a command line gets a token that a person approves in the dashboard. They follow OAuth's device flow (RFC 8628) and
 * its names. Nobody needs a token for these two routes.
 */
export function loginRoutes(
  server: FastifyInstance,
  parts: ServedParts,
  refusePlainHttp: (request: FastifyRequest) => void,
): void {
  const { db, config, clock, limiter } = parts;
  boundBodies(server, parts.log, MAX_BYTES);
  server.addContentTypeParser(FORM, { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  const begin = async (request: FastifyRequest): Promise<z.output<typeof begun>> => {
    refusePlainHttp(request);
    const asked = readBody(beginning, request);
    const clientAddress = addressUnit(request.clientAddress);
    const state = limiter.count(`login ${clientAddress}`, BEGINNINGS);
    if (state?.allowed === false) throw tooMany(state.resetSeconds);
    if (!config.dashboard.enabled)
      throw new FormsvcError(
        "not_found",
        "this server has no dashboard to approve a login; use a token that was made on its machine",
      );
    const scopes = readScopes(asked.scope);
    const made = { clientName: asked.client_name, clientAddress, scopes };
    const { deviceCode, userCode } = await db.transaction(() => addLoginRequest(made, clock.now()));
    const page = `${parts.dashboardUrl ?? `${request.protocol}://${request.host}/dashboard`}/login`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?code=${userCode}`,
      expires_in: LOGIN_MS / 1000,
      interval: POLL_SECONDS,
    };
  };

  const answerPoll = async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    refusePlainHttp(request);
    const { device_code: deviceCode } = readBody(asking, request);
    const wrong = `bad ${addressUnit(request.clientAddress)}`;
    const looked = limiter.look(wrong, config.rateLimit.badKey);
    if (looked?.allowed === false) throw tooMany(looked.resetSeconds);
    const now = clock.now();
    const found = await db.relaxedTransaction(() => pollLogin(deviceCode, now));
    if (found === undefined) limiter.count(wrong, config.rateLimit.badKey);
    if (
      found === undefined ||
      found === "slow_down" ||
      found.accountId === null ||
      found.state !== "approved"
    )
      return refuse(reply, problemOf(found));
    return makeToken(parts, deviceCode, { ...found, accountId: found.accountId });
  };

  const post = { method: "POST", bodyLimit: MAX_BYTES } as const;
  server.route({ ...post, url: "/login", handler: begin });
  server.route({ ...post, url: "/login/token", handler: answerPoll });
}

/**
 * Makes the token as the account that approved it, so that it can do no more than the account may now. The code is used up in the same
 * transaction.
 */
async function makeToken(
  { db, config, clock, onChange }: ServedParts,
  deviceCode: string,
  { accountId, clientName, scopes }: LoginRequest & { readonly accountId: string },
): Promise<z.output<typeof granted>> {
  const now = clock.now();
  const { id, email, isOperator } = await db.read(() => getAccount(accountId));
  const actor = { kind: "account", accountId: id, email, isOperator } as const;
  const door = { db, config, now, actor, parts: undefined, onChange };
  const input = { name: clientName, scopes };
  const made = await perform(door, createToken, input, () => spendLogin(deviceCode, now));
  return {
    access_token: made.secret,
    token_type: "Bearer",
    expires_in: DEFAULT_EXPIRY_MS / 1000,
    scope: made.token.scopes.join(" "),
    token: made.token,
  };
}

function problemOf(found: LoginRequest | "slow_down" | undefined): keyof typeof PROBLEMS {
  if (found === undefined) return "expired_token";
  if (found === "slow_down") return found;
  return found.state === "denied" ? "access_denied" : "authorization_pending";
}

function refuse(reply: FastifyReply, error: keyof typeof PROBLEMS): FastifyReply {
  const message = PROBLEMS[error];
  return reply.code(400).send({ error, error_description: message, message, code: error });
}

/** Reads a body in JSON or in the form encoding of RFC 8628. @throws invalid_json, invalid_request */
function readBody<Shape extends z.ZodType>(shape: Shape, { body, headers }: FastifyRequest): z.output<Shape> {
  const text = Buffer.isBuffer(body) ? body.toString("utf8") : "";
  const isForm = headers["content-type"]?.startsWith(FORM) === true;
  const read = shape.safeParse(isForm ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text));
  if (read.success) return read.data;
  const [problem] = read.error.issues;
  const name = problem?.path.join(".") ?? "";
  throw new FormsvcError("invalid_request", `the input is wrong: ${name}: ${problem?.message ?? ""}`);
}

function parseJson(text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new FormsvcError("invalid_json");
  }
}

/** @throws invalid_request */
function readScopes(text: string): LoginRequest["scopes"] {
  const named = text.split(" ").filter((each) => each !== "");
  const unknown = named.find((each) => !SCOPES.some((scope) => scope === each));
  if (unknown !== undefined || named.length === 0)
    throw new FormsvcError("invalid_request", `scope: expected some of ${SCOPES.join(" ")}.`);
  return SCOPES.filter((scope) => named.includes(scope));
}

function tooMany(seconds: number): FormsvcError {
  return new FormsvcError("rate_limited", `too many requests; try again in ${seconds} seconds`, {
    retryAfterSeconds: seconds,
  });
}
