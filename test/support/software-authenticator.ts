import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What a device does wrongly because a test wants it. */
export interface Lies {
  readonly challenge?: string;
  readonly origin?: string;
  readonly host?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly counter?: number;
  /** Whether the device verified the person who holds it. */
  readonly isVerified?: boolean;
  readonly userHandle?: string;
  readonly key?: KeyObject;
}

/** The options that the server sends to the device. */
export interface Asked {
  readonly challenge: string;
  readonly user?: { readonly id: string };
}

const base64url = (bytes: Buffer | string): string => Buffer.from(bytes).toString("base64url");

/** Makes a device with one passkey. Its answers look as a browser's script sends them. */
export function softwareAuthenticator(origin: string, privateKeyOf = makeKeys()) {
  const { privateKey, cose } = privateKeyOf;
  const id = randomBytes(16);
  let userHandle = "";
  let counter = 0;

  const clientData = (asked: Asked, type: string, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? asked.challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );
  const authenticatorData = (lies: Lies, made: Buffer): Buffer => {
    const flags = 1 + (lies.isVerified === false ? 0 : 4) + (made.length > 0 ? 64 : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(lies.counter ?? counter, 1);
    const host = createHash("sha256")
      .update(lies.host ?? new URL(origin).hostname)
      .digest();
    return Buffer.concat([host, head, made]);
  };
  return {
    id: base64url(id),
    /** Sets the number of uses that the device states. */
    count(value: number): void {
      counter = value;
    },
    make(asked: Asked, lies: Lies = {}, attestation = NONE): string {
      userHandle = asked.user?.id ?? "";
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const data = authenticatorData(lies, Buffer.concat([Buffer.alloc(16), length, id, cose]));
      return JSON.stringify({
        id: base64url(id),
        response: {
          clientDataJSON: base64url(clientData(asked, "webauthn.create", lies)),
          attestationObject: base64url(Buffer.concat([attestation, textOf("authData"), bytesOf(data)])),
        },
      });
    },
    answer(asked: Asked, lies: Lies = {}): string {
      const data = authenticatorData(lies, Buffer.alloc(0));
      const said = clientData(asked, "webauthn.get", lies);
      const signed = Buffer.concat([data, createHash("sha256").update(said).digest()]);
      return JSON.stringify({
        id: base64url(id),
        response: {
          clientDataJSON: base64url(said),
          authenticatorData: base64url(data),
          signature: base64url(sign("sha256", signed, lies.key ?? privateKey)),
          userHandle: lies.userHandle ?? userHandle,
        },
      });
    },
  };
}

export type SoftwareAuthenticator = ReturnType<typeof softwareAuthenticator>;

/** Makes a P-256 key, and its public half in COSE. */
export function makeKeys(): { readonly privateKey: KeyObject; readonly cose: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = (text: string): Buffer => bytesOf(Buffer.from(text, "base64url"));
  // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
  const head = Buffer.from("a5010203262001", "hex");
  const parts = [head, Buffer.from([0x21]), point(x), Buffer.from([0x22]), point(y)];
  return { privateKey, cose: Buffer.concat(parts) };
}

/* CBOR, as far as it is needed here (RFC 8949). */

function headOf(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([major + length]);
  return length < 256
    ? Buffer.from([major + 24, length])
    : Buffer.from([major + 25, length >> 8, length & 255]);
}

function bytesOf(value: Buffer): Buffer {
  return Buffer.concat([headOf(0x40, value.length), value]);
}

function textOf(value: string): Buffer {
  return Buffer.concat([headOf(0x60, value.length), Buffer.from(value)]);
}

/** The beginning of an attestation object with three members, the last of which is `authData`. */
const NONE = Buffer.concat([
  Buffer.from([0xa3]),
  textOf("fmt"),
  textOf("none"),
  textOf("attStmt"),
  Buffer.from([0xa0]),
]);

/** The beginning of an attestation object with a certificate, in a format that names addresses to ask. */
export const WITH_CERTIFICATE = Buffer.concat([
  Buffer.from([0xa3]),
  textOf("fmt"),
  textOf("packed"),
  textOf("attStmt"),
  Buffer.from([0xa1]),
  textOf("x5c"),
  Buffer.from([0x81]),
  bytesOf(Buffer.from("certificate")),
]);
