import type { Database } from "../../database/database.ts";
import {
  CHALLENGE_MEMBERS,
  isVendor,
  readChallengeSecret,
  type Vendor,
  writeChallengeFault,
} from "../../endpoints/challenge.ts";
import { chooseSigningKey } from "../../files/file-links.ts";
import { BoundedMap } from "../../foundation/bounded-map.ts";
import type { Clock } from "../../foundation/clock.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Keyring } from "../../secrets/keyring.ts";
import { createVendors, type VendorAnswer, type VendorSettings } from "./ask-vendor.ts";
import type { Caller } from "./authenticate.ts";
import type { JsonObject } from "./parse-body.ts";
import { ASK_FOR_PROOF, makeChallenge, type Proof, readProof } from "./proof-of-work.ts";
import { isSpent } from "../commit/spent-proofs.ts";

/** What became of an endpoint's challenge. */
export interface ChallengeAnswer {
  /** Absent if nothing speaks against the visitor. */
  readonly failed?: "missing" | "wrong";
  /** To be spent with the post; null if there is none. */
  readonly proof: Proof | null;
}

export interface Challenges {
  /** A proof of work to be done, for an endpoint that asks for it. */
  make(endpointId: string): Promise<ReturnType<typeof makeChallenge>>;
  /** Call only for an endpoint with a challenge. @throws challenge_required, rate_limited */
  check(caller: Caller, body: JsonObject, isProofSpent: boolean): Promise<ChallengeAnswer>;
}

export interface ChallengeParts {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly settings: VendorSettings;
  readonly onFailure: (error: unknown) => void;
}

export function createChallenges(parts: ChallengeParts): Challenges {
  const { db, keyring, clock } = parts;
  let known: Buffer | null = null;
  const key = async (): Promise<Buffer> => (known ??= await db.transaction(() => chooseSigningKey(keyring)));
  const ask = createVendors(parts.settings);
  const faults = createFaultNotes(parts);

  const checkProof = async (endpointId: string, given: unknown): Promise<ChallengeAnswer> => {
    const proof = readProof(await key(), endpointId, given, clock.now());
    if (proof === null || (await db.read(() => isSpent(proof)))) return { failed: "wrong", proof: null };
    return { proof };
  };
  const checkToken = async (vendor: Vendor, caller: Caller, token: unknown): Promise<ChallengeAnswer> => {
    if (typeof token !== "string") return { failed: "wrong", proof: null };
    const { address } = caller;
    const { id: endpointId, settings } = caller.ready.endpoint;
    const { siteKey } = settings.challenge;
    const secret = await db.read(() => readChallengeSecret(keyring, endpointId));
    const answer: VendorAnswer =
      secret === null
        ? { fault: "no secret is set" }
        : await ask({ vendor, secret, siteKey, token, address });
    faults.note(endpointId, "fault" in answer ? answer.fault : null);
    return "fault" in answer || answer.isGood ? { proof: null } : { failed: "wrong", proof: null };
  };

  return {
    make: async (endpointId) => makeChallenge(await key(), endpointId, clock.now()),
    async check(caller, body, isProofSpent) {
      const { endpoint } = caller.ready;
      const { kind, isRequired } = endpoint.settings.challenge;
      if (kind === "off") return { proof: null };
      const name = CHALLENGE_MEMBERS[kind];
      const given = Object.hasOwn(body, name) ? body[name] : undefined;
      // A browser that did not know of the task does it now, and sends the post again.
      if (kind === "pow" && given === ASK_FOR_PROOF) throw new FormsvcError("challenge_required");
      let answer: ChallengeAnswer = { failed: "missing", proof: null };
      if (isProofSpent) answer = { failed: "wrong", proof: null };
      else if (given !== undefined && given !== "" && given !== null)
        answer = isVendor(kind)
          ? await checkToken(kind, caller, given)
          : await checkProof(endpoint.id, given);
      if (isRequired && answer.failed !== undefined) throw new FormsvcError("challenge_required");
      return answer;
    },
  };
}

/** Time between two notes of one endpoint's fault: a service that fails now and then costs no write for each post. */
const NOTE_MS = 600_000;
const MAX_NOTED = 5000;

/** Writes down why a service gives no verdicts, for `doctor`, and that it does again. */
function createFaultNotes({ db, clock, onFailure }: ChallengeParts) {
  const noted = new BoundedMap<string, { readonly isFault: boolean; readonly faultAt: number }>(MAX_NOTED);
  return {
    note(endpointId: string, fault: string | null): void {
      const last = noted.get(endpointId);
      const isFault = fault !== null;
      const faultAt = isFault ? clock.now() : (last?.faultAt ?? Number.NEGATIVE_INFINITY);
      if (last !== undefined && (isFault ? faultAt - last.faultAt < NOTE_MS : !last.isFault)) return;
      noted.set(endpointId, { isFault, faultAt });
      db.transaction(() => writeChallengeFault(endpointId, fault)).catch(onFailure);
    },
  };
}
