import type * as Server from "@simplewebauthn/server";
import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import type { NewPasskey, Passkey } from "./passkey-store.ts";

/*
 * Checks the answers of devices (WebAuthn). The library is loaded with the first answer. It would fetch lists of revoked certificates from
 * addresses that a device names, so an answer with a certificate, which was not asked for, never reaches it.
 */

/** The party that asks devices: the host to which passkeys belong, and the origin of its pages. */
export interface RelyingParty {
  readonly host: string;
  readonly origin: string;
}

/** COSE numbers: Ed25519, ECDSA with P-256, RSA with PKCS #1. */
export const ALGORITHMS = [-8, -7, -257];
/** The largest number of characters of an answer, which is JSON with texts of base64url. */
const MAX_ANSWER_LENGTH = 6000;
/** The longest id that a device may choose (WebAuthn, section 4), in bytes. */
const MAX_ID_BYTES = 1023;
/** The largest number of bytes of a public key. An RSA key with 4096 bits has about 530. */
const MAX_KEY_BYTES = 1024;

const base64url = z.string().regex(/^[\w-]+$/);
const proof = z.object({
  id: base64url,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
});
const made = z.object({
  id: base64url,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
});

/** A device's proof that it has the key of a passkey. */
export type DeviceProof = z.output<typeof proof>;

/** Reads a proof. @throws unauthorized */
export function readProof(text: string): DeviceProof {
  return parse(proof, text);
}

/** What a device was asked to prove. */
export interface Demand {
  readonly challenge: string;
  /** Whether the device must have verified the person, by a PIN, a finger or a face. */
  readonly needsPerson: boolean;
}

/**
 * Checks that a proof was made with the passkey's key, for this challenge and on our pages. Returns the device's count of uses.
 *
 * @throws unauthorized
 */
export async function checkProof(
  { host, origin }: RelyingParty,
  { challenge, needsPerson }: Demand,
  { id, response: { userHandle, ...response } }: DeviceProof,
  passkey: Passkey,
): Promise<number> {
  const library = await load();
  const owner = Buffer.from(passkey.accountId).toString("base64url");
  if (userHandle !== undefined && userHandle !== owner) throw wrongAnswer();
  const checked = await refusing(() =>
    library.verifyAuthenticationResponse({
      response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: needsPerson,
      credential: {
        id: passkey.credentialId,
        publicKey: Uint8Array.from(passkey.publicKey),
        counter: passkey.counter,
      },
    }),
  );
  if (!checked.verified) throw wrongAnswer();
  return checked.authenticationInfo.newCounter;
}

/** Reads the passkey that a device has just made, for this challenge and on our pages. @throws unauthorized */
export async function readMade(
  { host, origin }: RelyingParty,
  challenge: string,
  text: string,
): Promise<NewPasskey> {
  const { id, response } = parse(made, text);
  const library = await load();
  const checked = await refusing(async () => {
    await refuseCertificates(response.attestationObject);
    return library.verifyRegistrationResponse({
      response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
  });
  if (!checked.verified) throw wrongAnswer();
  const { id: credentialId, publicKey, counter } = checked.registrationInfo.credential;
  const key = Buffer.from(publicKey);
  if (Buffer.from(credentialId, "base64url").length > MAX_ID_BYTES || key.length > MAX_KEY_BYTES)
    throw wrongAnswer();
  return { credentialId, host, publicKey: key, counter };
}

async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  const attestation = decodeAttestationObject(Uint8Array.from(Buffer.from(attestationObject, "base64url")));
  const isSelf = attestation.get("fmt") === "packed" && attestation.get("attStmt").get("x5c") === undefined;
  if (attestation.get("fmt") !== "none" && !isSelf) throw wrongAnswer();
}

function parse<Shape extends z.ZodObject<{ response: z.ZodObject<{ clientDataJSON: z.ZodString }> }>>(
  shape: Shape,
  text: string,
): z.output<Shape> {
  if (text.length > MAX_ANSWER_LENGTH) throw wrongAnswer();
  try {
    const read = shape.parse(JSON.parse(text));
    const { clientDataJSON } = read.response;
    const said: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString());
    // Our pages are never in a frame of another site.
    if (z.object({ crossOrigin: z.literal(true) }).safeParse(said).success) throw wrongAnswer();
    return read;
  } catch {
    throw wrongAnswer();
  }
}

/** Replaces every error by {@link wrongAnswer}, because the library throws an ordinary error for each thing that is wrong. */
async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch {
    throw wrongAnswer();
  }
}

/** One message for all errors, because the exact reason would only help somebody who forges an answer. */
export function wrongAnswer(): FormsvcError {
  return new FormsvcError("unauthorized", "This passkey was not taken. Try again, or sign in another way.");
}

function load(): Promise<typeof Server> {
  return import("@simplewebauthn/server");
}
