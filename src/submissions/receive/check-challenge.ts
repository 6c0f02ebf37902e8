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

/** The result of an endpoint's challenge. */
interface ChallengeAnswer {
  /** Why the challenge failed; absent if it did not, or if its service gave no verdict. */
  readonly failed?: "missing" | "wrong";
  /** The proof of work, to be spent when the post is stored; null if there is none. */
  readonly proof: Proof | null;
}

export interface Challenges {
  /** Makes a proof-of-work task for posts to an endpoint. */
  make(endpointId: string): Promise<ReturnType<typeof makeChallenge>>;
  /** Checks the challenge of a post. @throws challenge_required, rate_limited */
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
      // The browser did not have the task yet. It does the task now, and sends the post again.
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

/** The shortest time between two notes of a fault of one endpoint, so that a failing service does not cost a write for each post. */
const NOTE_MS = 600_000;
const MAX_NOTED = 5000;

/** Stores why a service gives no verdicts, for `doctor`, and removes the fault when the service answers again. */
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
