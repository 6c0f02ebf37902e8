import { hash } from "node:crypto";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { FormsvcError } from "../foundation/errors.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { beginFlow, type Flow, FLOW_LIFETIME_MS, readFlow } from "./browser-flow.ts";
import { flowKey, readKey } from "./known-clients.ts";
import {
  ALGORITHMS,
  checkProof,
  readMade,
  readProof,
  type RelyingParty,
  wrongAnswer,
} from "./passkey-ceremony.ts";
import { findPasskeyOf, listPasskeys, type NewPasskey, noteUse, spendChallenge } from "./passkey-store.ts";

/*
 * A browser begins a step, gets a cookie that contains the challenge, asks the device, and brings the answer back with the cookie. An
 * answer counts once: its challenge is spent in the transaction that the answer allows.
 */

export interface PasskeyParts {
  readonly db: Database;
  readonly keyring: Keyring;
  /** The party that passkeys belong to; null if passkeys are off. */
  readonly party: RelyingParty | null;
}

/** What a passkey is asked for. Alone it replaces both factors, so the device must verify the person. */
export type PasskeyUse = "alone" | "second factor";

/** What a browser's script passes to the device, and the cookie of the step. */
export interface AskedDevice {
  readonly cookie: string;
  /** The members of WebAuthn's own options, with base64url instead of bytes. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a browser brings back from the device. */
export interface PasskeyAnswer {
  /** The cookie of the step; null if the browser sent none. */
  readonly cookie: string | null;
  /** The answer of the device, as JSON. */
  readonly response: string;
}

/** A valid answer. It counts only after {@link takeAnswer}. */
export interface RightAnswer {
  readonly accountId: string;
  readonly passkeyId: string;
  readonly counter: number;
  readonly challenge: SpentChallenge;
}

interface SpentChallenge {
  readonly hash: Buffer;
  readonly expiresAt: number;
}

/** The account that adds a passkey, and its session. */
export interface PasskeyOwner {
  readonly accountId: string;
  readonly email: string;
  readonly sessionId: string;
  /** When the password or the second factor last changed; 0 without a password. */
  readonly changedAt: number;
}

/** A passkey that a device has made for its owner. It counts only after {@link spend}. */
export interface MadePasskey {
  readonly made: NewPasskey;
  readonly challenge: SpentChallenge;
}

const LOST =
  "This was begun in another tab, was finished already, or took longer than ten minutes. Try again.";
const USED = "This answer of the passkey was used before. Try again.";

/** Begins a step to sign in. @throws not_found if passkeys are off. */
export async function askForPasskey(parts: PasskeyParts, use: PasskeyUse, now: number): Promise<AskedDevice> {
  const { host } = requireParty(parts);
  const flow = beginFlow(await flowKey(parts.db, parts.keyring), purposeOf(host, use), "", now);
  const userVerification = use === "alone" ? "required" : "preferred";
  return {
    cookie: flow.cookie,
    options: { challenge: challengeOf(flow), rpId: host, timeout: FLOW_LIFETIME_MS, userVerification },
  };
}

/** Checks what a browser brings back. @throws unauthorized, not_found */
export async function readAnswer(
  parts: PasskeyParts,
  use: PasskeyUse,
  { cookie, response }: PasskeyAnswer,
  now: number,
): Promise<RightAnswer> {
  const party = requireParty(parts);
  const proof = readProof(response);
  const { key, passkey } = await parts.db.read(function* () {
    return { key: yield* readKey(parts.keyring), passkey: yield* findPasskeyOf(proof.id) };
  });
  const flow = flowOf(key, purposeOf(party.host, use), cookie, now);
  if (passkey?.host !== party.host) throw wrongAnswer();
  const demand = { challenge: challengeOf(flow), needsPerson: use === "alone" };
  const counter = await checkProof(party, demand, proof, passkey);
  const { accountId, id: passkeyId } = passkey;
  return { accountId, passkeyId, counter, challenge: spentBy(flow) };
}

/** Uses an answer up, in the transaction that the answer allows. @throws unauthorized if it was used up before. */
export function* takeAnswer({ passkeyId, counter, challenge }: RightAnswer, now: number): Steps<void> {
  yield* spend(challenge, now);
  if (!(yield* noteUse(passkeyId, counter, now))) throw wrongAnswer();
}

/** Begins a step to add a passkey. @throws not_found if passkeys are off. */
export async function askForNew(parts: PasskeyParts, owner: PasskeyOwner, now: number): Promise<AskedDevice> {
  const { host } = requireParty(parts);
  const flow = beginFlow(await flowKey(parts.db, parts.keyring), addingPurpose(host, owner), "", now);
  const known = await parts.db.read(() => listPasskeys(owner.accountId));
  return {
    cookie: flow.cookie,
    options: {
      challenge: challengeOf(flow),
      rp: { id: host, name: `formsvc ${host}` },
      user: {
        id: Buffer.from(owner.accountId).toString("base64url"),
        name: owner.email,
        displayName: owner.email,
      },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: known.map(({ credentialId: id }) => ({ type: "public-key", id })),
      authenticatorSelection: {
        residentKey: "required",
        requireResidentKey: true,
        userVerification: "required",
      },
      attestation: "none",
      timeout: FLOW_LIFETIME_MS,
    },
  };
}

/** Checks the new passkey that a browser brings back, for an owner who asked for it in this session. @throws unauthorized, not_found */
export async function readNew(
  parts: PasskeyParts,
  owner: PasskeyOwner,
  { cookie, response }: PasskeyAnswer,
  now: number,
): Promise<MadePasskey> {
  const party = requireParty(parts);
  const key = await parts.db.read(() => readKey(parts.keyring));
  const flow = flowOf(key, addingPurpose(party.host, owner), cookie, now);
  return { made: await readMade(party, challengeOf(flow), response), challenge: spentBy(flow) };
}

/** Uses a challenge up. @throws unauthorized if it was answered before. */
export function* spend({ hash: spent, expiresAt }: SpentChallenge, now: number): Steps<void> {
  if (!(yield* spendChallenge(spent, expiresAt, now))) throw new FormsvcError("unauthorized", USED);
}

function requireParty({ party }: PasskeyParts): RelyingParty {
  if (party === null) throw new FormsvcError("not_found", "There are no passkeys here.");
  return party;
}

/** The purpose of a step to sign in. It contains the host, so that the step is not finished on another one. */
function purposeOf(host: string, use: PasskeyUse): string {
  return JSON.stringify(["passkey", host, use]);
}

/**
 * The purpose of a step to add a passkey. It contains the session, so that no other session finishes the step, and the time of the last
 * change, so that nobody finishes it after the password or the second factor has changed.
 */
function addingPurpose(host: string, { accountId, sessionId, changedAt }: PasskeyOwner): string {
  return JSON.stringify(["new passkey", host, accountId, sessionId, changedAt]);
}

function flowOf(key: Buffer | undefined, purpose: string, cookie: string | null, now: number): Flow {
  const flow = key === undefined ? null : readFlow(key, purpose, cookie, now);
  if (flow === null) throw new FormsvcError("unauthorized", LOST);
  return flow;
}

function challengeOf(flow: Flow): string {
  return flow.secretOf("challenge");
}

function spentBy(flow: Flow): SpentChallenge {
  return { hash: hash("sha256", challengeOf(flow), "buffer"), expiresAt: flow.expiresAt };
}
