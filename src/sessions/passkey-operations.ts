import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { changed, type Context, operation } from "../operations/operation.ts";
import { checkName } from "../workspaces/workspace.ts";
import { countRecoveryCodes, findCredential, noteFactorChanged } from "./credential-store.ts";
import { askForNew, type MadePasskey, type PasskeyOwner, readNew, spend } from "./passkeys.ts";
import {
  dropPasskeyRows,
  findPasskeyOf,
  insertPasskeyRow,
  listPasskeys,
  renamePasskeyRow,
} from "./passkey-store.ts";
import { dropCodesOfNothing } from "./second-factor.ts";
import { changeOwn, giveCodes, type Proved, prove, type SecurityParts } from "./security-operations.ts";

/*
 * The passkeys of one's own account. Like every change of how an account signs in, adding or removing one needs more than a session, and
 * ends the other sessions.
 */

type Asked = Context<SecurityParts>;

const MAX_PASSKEYS = 20;

const password = z.string().describe("The password that is valid now; empty if passwords are switched off.");
const passkey = z.string().describe("Id of the passkey, `pky_…`.");
const nothing = z.strictObject({});

export const beginPasskey = operation({
  name: "account.begin-passkey",
  summary: "Prove who one is, and ask a device for a passkey of one's own",
  kind: "read",
  access: "own-account",
  input: z.strictObject({ password }),
  output: z.strictObject({
    cookie: z.string().describe("The value of a cookie that the browser keeps until the passkey is added."),
    options: z.record(z.string(), z.unknown()).describe("The WebAuthn options for the device."),
  }),
  async run(context: Asked, { password: present }) {
    const { db, parts, now } = context;
    const { accountId, credential } = await prove(context, present, "optional");
    requireRoom((await db.read(() => listPasskeys(accountId))).length);
    return askForNew({ ...parts, db }, ownerOf(parts, { accountId, credential }), now);
  },
});

export const addPasskey = operation({
  name: "account.add-passkey",
  summary: "Add the passkey that a device has made to one's own account",
  kind: "write",
  access: "own-account",
  input: z.strictObject({
    name: z.string(),
    cookie: z
      .string()
      .nullable()
      .describe("The value of the cookie that the first step gave; null if the browser sent none."),
    response: z.string().describe("The answer of the device, as JSON."),
  }),
  output: z.strictObject({
    passkey,
    recovery_codes: z
      .array(z.string())
      .describe("New recovery codes, which are shown only now; empty if the account has some already."),
  }),
  async run(context: Asked, { name, cookie, response }) {
    const { db, parts, now } = context;
    const { accountId } = parts.viewer;
    const checked = checkName(name);
    const proved: Proved = { accountId, credential: await db.read(() => findCredential(accountId)) };
    const made = await readNew({ ...parts, db }, ownerOf(parts, proved), { cookie, response }, now);
    return changeOwn(context, proved, { change: "account.add-passkey", detail: checked }, () =>
      add(accountId, made, checked, now),
    );
  },
});

function* add(
  accountId: string,
  { made, challenge }: MadePasskey,
  name: string,
  now: number,
): Steps<{ passkey: string; recovery_codes: string[] }> {
  yield* spend(challenge, now);
  requireRoom((yield* listPasskeys(accountId)).length);
  if ((yield* findPasskeyOf(made.credentialId)) !== undefined)
    throw new FormsvcError("usage", "This passkey is there already.");
  const id = yield* insertPasskeyRow(accountId, made, name, now);
  yield* noteFactorChanged(accountId, now);
  if ((yield* countRecoveryCodes(accountId)) > 0) return { passkey: id, recovery_codes: [] };
  return { passkey: id, ...(yield* giveCodes(accountId)) };
}

export const renamePasskey = operation({
  name: "account.rename-passkey",
  summary: "Give a passkey of one's own another name",
  kind: "write",
  access: "own-account",
  input: z.strictObject({ passkey, name: z.string() }),
  output: nothing,
  *run({ parts }: Asked, { passkey: id, name }) {
    const { accountId, email } = parts.viewer;
    const checked = checkName(name);
    if (!(yield* renamePasskeyRow(accountId, id, checked))) throw noSuchPasskey();
    return changed({}, { subject: email, workspaceId: null, detail: checked });
  },
});

export const removePasskey = operation({
  name: "account.remove-passkey",
  summary: "Remove a passkey of one's own",
  kind: "write",
  access: "own-account",
  input: z.strictObject({ password, passkey }),
  output: nothing,
  async run(context: Asked, { password: present, passkey: id }) {
    const proved = await prove(context, present, "optional");
    const { accountId } = proved;
    return changeOwn(context, proved, { change: "account.remove-passkey" }, function* () {
      if ((yield* dropPasskeyRows(accountId, id)) === 0) throw noSuchPasskey();
      yield* dropCodesOfNothing(accountId);
      yield* noteFactorChanged(accountId, context.now);
      return {};
    });
  },
});

function ownerOf({ viewer }: SecurityParts, { accountId, credential }: Proved): PasskeyOwner {
  const { email, sessionId } = viewer;
  return { accountId, email, sessionId, changedAt: credential?.changedAt ?? 0 };
}

/** @throws usage if the account has as many passkeys as it may. */
function requireRoom(count: number): void {
  if (count >= MAX_PASSKEYS)
    throw new FormsvcError("usage", `An account has ${MAX_PASSKEYS} passkeys at most. Remove one first.`);
}

function noSuchPasskey(): FormsvcError {
  return new FormsvcError("not_found", "You have no such passkey.");
}
