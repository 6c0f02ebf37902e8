import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { reachEndpoint } from "../endpoints/endpoint-store.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { SCOPES } from "../operations/access.ts";
import { SEES_ALL } from "../operations/actor.ts";
import { shownOnce } from "../operations/marks.ts";
import { changed, type Context, type OwnChange, operation } from "../operations/operation.ts";
import { isInReach, reachWorkspace } from "../workspaces/reach.ts";
import { chooseAccount, findAccount, listAccounts } from "../workspaces/workspace-store.ts";
import { listedTokenJson, listedTokenShape, tokenJson, tokenShape } from "./token-json.ts";
import { getToken, insertTokenRow, listTokens, revokeTokenRow } from "./token-store.ts";
import {
  checkScopes,
  DEFAULT_EXPIRY_MS,
  DEFAULT_SCOPES,
  expiryOf,
  makeTokenText,
  type Token,
} from "./token.ts";

const owner = {
  account: z
    .string()
    .nullable()
    .default(null)
    .describe(
      "Id or e-mail address of the account that the token belongs to; null is the account that makes it, or the only account.",
    ),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe("Id or name of a workspace: makes a service token that belongs to it."),
  endpoint: z
    .string()
    .nullable()
    .default(null)
    .describe("Id or name of an endpoint: makes a service token for this endpoint alone."),
};

export const createToken = operation({
  name: "token.create",
  summary: "Make a token for the HTTP API, which is shown this once",
  kind: "write",
  access: "tokens",
  input: z.strictObject({
    ...owner,
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)).readonly().default(DEFAULT_SCOPES),
    expires_in_ms: z
      .int()
      .nullable()
      .default(DEFAULT_EXPIRY_MS)
      .describe("How long the token is valid, in milliseconds; null is for ever."),
  }),
  output: z.strictObject({
    token: tokenShape,
    secret: shownOnce(z.string().describe("The whole token, which is shown only now.")),
  }),
  *run(context, { name, scopes, expires_in_ms: expiresInMs, ...input }) {
    const whose = yield* findOwner(context, input);
    const checked = checkScopes(scopes, whose);
    const secret = makeTokenText();
    const made = { ...whose.bound, name, scopes: checked, expiresAt: expiryOf(expiresInMs, context.now) };
    const token = yield* insertTokenRow(made, secret, context.now);
    return changed({ token: tokenJson(token, whose.email), secret: secret.text }, changeOf(token));
  },
});

interface TokenOwner {
  readonly email: string | null;
  readonly isOperator: boolean;
  readonly bound: Pick<Token, "accountId" | "workspaceId" | "endpointId">;
}

/** Finds the owner of a new token. @throws usage, not_found, ambiguous; forbidden for another account's token. */
function* findOwner(
  context: Context,
  { account, workspace, endpoint }: Readonly<Record<"account" | "workspace" | "endpoint", string | null>>,
): Steps<TokenOwner> {
  if ([account, workspace, endpoint].filter((each) => each !== null).length > 1)
    throw new FormsvcError("usage", "a token belongs to an account, a workspace or an endpoint: name one");
  const service = { email: null, isOperator: false };
  if (endpoint !== null) {
    const { id, workspaceId } = yield* reachEndpoint(context, { endpoint });
    return { ...service, bound: { accountId: null, workspaceId, endpointId: id } };
  }
  if (workspace !== null) {
    const { id: workspaceId } = yield* reachWorkspace(context, workspace);
    return { ...service, bound: { accountId: null, workspaceId, endpointId: null } };
  }
  const { actor, now, config } = context;
  const own = actor.kind === "account" ? actor.accountId : null;
  const found = yield* chooseAccount(account ?? own, now, config.newWorkspacePlan);
  if (actor.kind === "account" && found.id !== own)
    throw new FormsvcError("forbidden", "a token of another account is made on the server’s machine only");
  const { id: accountId, email, isOperator } = found;
  return { email, isOperator, bound: { accountId, workspaceId: null, endpointId: null } };
}

export const listAllTokens = operation({
  name: "token.list",
  summary: "List the tokens, the last 100 ended ones of each owner too",
  kind: "read",
  access: "tokens",
  input: z.strictObject({}),
  output: z.strictObject({ data: z.array(listedTokenShape) }),
  *run({ viewing, now }) {
    const tokens = yield* listTokens(viewing);
    const emails = new Map((yield* listAccounts()).map(({ id, email }) => [id, email]));
    return {
      data: tokens.map((token) => listedTokenJson(token, emails.get(token.accountId ?? "") ?? null, now)),
    };
  },
});

export const revokeToken = operation({
  name: "token.revoke",
  summary: "Refuse a token from now on, everywhere within a second",
  kind: "write",
  access: "tokens",
  input: z.strictObject({
    token: z.string().describe("Id of the token, its 12 characters after the prefix, or the whole token."),
  }),
  output: z.strictObject({ token: listedTokenShape }),
  *run(context, { token: reference }) {
    const token = yield* getToken(context.viewing, reference);
    // The token is of a workspace that is visible; this checks whether the role in it is enough.
    if (token.workspaceId !== null) yield* isInReach(context, token.workspaceId);
    return yield* end(context, token);
  },
});

export const showOwnToken = operation({
  name: "token.show-own",
  summary: "Show the token with which one asks",
  kind: "read",
  access: "own-token",
  input: z.strictObject({}),
  output: z.strictObject({ token: listedTokenShape }),
  *run(context) {
    const token = yield* ownToken(context);
    return { token: listedTokenJson(token, yield* emailOf(token), context.now) };
  },
});

export const revokeOwnToken = operation({
  name: "token.revoke-own",
  summary: "Revoke the token with which one asks",
  kind: "write",
  access: "own-token",
  input: z.strictObject({}),
  output: z.strictObject({ token: listedTokenShape }),
  *run(context) {
    return yield* end(context, yield* ownToken(context));
  },
});

function* ownToken({ actor }: Context): Steps<Token> {
  if (actor.kind !== "token")
    throw new FormsvcError("forbidden", "only a request that shows a token has a token of its own");
  return yield* getToken(SEES_ALL, actor.tokenId);
}

function* end(context: Context, before: Token) {
  const token = yield* revokeTokenRow(before, context.now);
  const output = { token: listedTokenJson(token, yield* emailOf(token), context.now) };
  return before.revokedAt === null ? changed(output, changeOf(token)) : changed(output);
}

function* emailOf({ accountId }: Token): Steps<string | null> {
  return accountId === null ? null : ((yield* findAccount(accountId))?.email ?? null);
}

function changeOf({ id, workspaceId, name }: Token): OwnChange {
  return { subject: id, workspaceId, detail: name };
}
