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
 * A browser begins a step, in whose cookie the challenge is, asks the device, and brings the answer with the cookie. An answer counts
 * once: its challenge is spent in the transaction of what it brings about.
 */

export interface PasskeyParts {
  readonly db: Database;
  readonly keyring: Keyring;
  /** Null if there are no passkeys here. */
  readonly party: RelyingParty | null;
}

/** What a passkey is asked for: alone it stands for both factors, so the device must make sure who holds it. */
export type PasskeyUse = "alone" | "second factor";

/** What a browser's script hands to the device, and the cookie of the step. */
export interface AskedDevice {
  readonly cookie: string;
  /** The members of WebAuthn's own options, with base64url in the place of bytes. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a browser brings back. */
export interface PasskeyAnswer {
  /** Of the step; null if it came without. */
  readonly cookie: string | null;
  /** What the device answered, as JSON. */
  readonly response: string;
}

/** An answer that is right. It counts when {@link takeAnswer} has taken it. */
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

/** Who adds a passkey, and in which session. */
export interface PasskeyOwner {
  readonly accountId: string;
  readonly email: string;
  readonly sessionId: string;
  /** When the password or the second factor last changed; 0 without a password. */
  readonly changedAt: number;
}

/** A passkey that a device has made for its owner. It is spent by {@link spend}. */
export interface MadePasskey {
  readonly made: NewPasskey;
  readonly challenge: SpentChallenge;
}

const LOST =
  "This was begun in another tab, was finished already, or took longer than ten minutes. Try again.";
const USED = "This answer of the passkey was used before. Try again.";

/** @throws not_found without passkeys here */
export async function askForPasskey(parts: PasskeyParts, use: PasskeyUse, now: number): Promise<AskedDevice> {
  const { host } = requireParty(parts);
  const flow = beginFlow(await flowKey(parts.db, parts.keyring), purposeOf(host, use), "", now);
  const userVerification = use === "alone" ? "required" : "preferred";
  return {
    cookie: flow.cookie,
    options: { challenge: challengeOf(flow), rpId: host, timeout: FLOW_LIFETIME_MS, userVerification },
  };
}

/** Looks at what a browser brings back. @throws unauthorized, not_found */
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

/** Uses an answer up, in the transaction of what it brings about. @throws unauthorized if somebody did so before */
export function* takeAnswer({ passkeyId, counter, challenge }: RightAnswer, now: number): Steps<void> {
  yield* spend(challenge, now);
  if (!(yield* noteUse(passkeyId, counter, now))) throw wrongAnswer();
}

/** @throws not_found */
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

/** Looks at what a browser brings back for an owner who asked for it in this session. @throws unauthorized, not_found */
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

/** @throws unauthorized if the challenge was answered before */
export function* spend({ hash: spent, expiresAt }: SpentChallenge, now: number): Steps<void> {
  if (!(yield* spendChallenge(spent, expiresAt, now))) throw new FormsvcError("unauthorized", USED);
}

function requireParty({ party }: PasskeyParts): RelyingParty {
  if (party === null) throw new FormsvcError("not_found", "There are no passkeys here.");
  return party;
}

/** Passkeys of another host belong to another purpose, too. */
function purposeOf(host: string, use: PasskeyUse): string {
  return JSON.stringify(["passkey", host, use]);
}

/** Another session cannot finish it, and neither can anybody after a change of the password or the second factor. */
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
