import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { SCOPES } from "../operations/access.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { decideLoginRow, findWaitingLogin, type LoginRequest, readUserCode } from "./login-store.ts";
import { checkScopes } from "./token.ts";

const code = z.string().describe("The code that the command line shows: XXXX-XXXX.");
const output = z.strictObject({
  login: z.strictObject({ name: z.string(), scopes: z.array(z.enum(SCOPES)) }),
});

export const approveLogin = operation({
  name: "login.approve",
  summary: "Let a command line have a token of one's own",
  kind: "write",
  access: "tokens",
  input: z.strictObject({ code, scopes: z.array(z.enum(SCOPES)).readonly() }),
  output,
  *run(context, input) {
    const { actor } = context;
    if (actor.kind !== "account")
      throw new FormsvcError("forbidden", "a login is approved by somebody who is signed in");
    const login = yield* getWaiting(context, input.code);
    const scopes = checkScopes(input.scopes, actor);
    yield* decideLoginRow(login.userCode, actor.accountId, scopes);
    return changed(
      { login: { name: login.clientName, scopes: [...scopes] } },
      { subject: actor.accountId, workspaceId: null, detail: login.clientName },
    );
  },
});

export const denyLogin = operation({
  name: "login.deny",
  summary: "Let a command line have no token",
  kind: "write",
  access: "tokens",
  input: z.strictObject({ code }),
  output,
  *run(context, input) {
    const login = yield* getWaiting(context, input.code);
    yield* decideLoginRow(login.userCode, null, login.scopes);
    return changed(
      { login: { name: login.clientName, scopes: [...login.scopes] } },
      { subject: login.userCode, workspaceId: null, detail: login.clientName },
    );
  },
});

/** @throws not_found */
function* getWaiting({ now }: Context, typed: string): Steps<LoginRequest> {
  const login = yield* findWaitingLogin(readUserCode(typed), now);
  if (login === undefined)
    throw new FormsvcError("not_found", "there is no login with this code, or it was decided already");
  return login;
}
