import { createHash, createPublicKey, verify } from "node:crypto";

/** The purpose that a release is signed for (the namespace of `ssh-keygen`), and the only kind of key that signs it. */
const NAMESPACE = "formsvc";
const KEY_TYPE = "ssh-ed25519";

/** The DER prefix of an ed25519 key (RFC 8410); the 32 bytes of the key follow it. */
const DER_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Whether this key made this signature of this text with `ssh-keygen -Y sign`, for releases.
 *
 * @param signature in its armoured form, as `SHA256SUMS.sig` holds it.
 * @param key one line, as `release.pub` holds it.
 */
export function isSignedBy(text: Buffer, signature: string, key: string): boolean {
  const [, body] =
    /^-----BEGIN SSH SIGNATURE-----\n([\w+/=\n]+)-----END SSH SIGNATURE-----\s*$/.exec(signature) ?? [];
  const [, given] = new RegExp(`^${KEY_TYPE} ([\\w+/=]+)`).exec(key.trim()) ?? [];
  if (body === undefined || given === undefined) return false;
  try {
    const parts = readSignature(Buffer.from(body, "base64"));
    if (!parts.key.equals(Buffer.from(given, "base64")) || parts.namespace !== NAMESPACE) return false;
    if (parts.hash !== "sha512" && parts.hash !== "sha256") return false;
    const signed = Buffer.concat([
      Buffer.from("SSHSIG"),
      ...[NAMESPACE, "", parts.hash].map((part) => packed(Buffer.from(part))),
      packed(createHash(parts.hash).update(text).digest()),
    ]);
    const der = Buffer.concat([DER_HEAD, bytesOf(parts.key)]);
    return verify(
      null,
      signed,
      createPublicKey({ key: der, format: "der", type: "spki" }),
      bytesOf(parts.signature),
    );
  } catch {
    return false;
  }
}

interface Signature {
  readonly key: Buffer;
  readonly namespace: string;
  readonly hash: string;
  readonly signature: Buffer;
}

/** Reads a signature in the format of OpenSSH's PROTOCOL.sshsig. @throws Error if it ends too early or begins with something else. */
function readSignature(body: Buffer): Signature {
  if (body.toString("latin1", 0, 6) !== "SSHSIG" || body.readUInt32BE(6) !== 1)
    throw new Error("no signature");
  const [key, namespace, , hash, signature] = fieldsOf(body.subarray(10));
  if (key === undefined || signature === undefined) throw new Error("the signature is cut off");
  return { key, namespace: String(namespace), hash: String(hash), signature };
}

/** Reads fields that each begin with their length. @throws RangeError if the last one is cut off. */
function fieldsOf(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    if (at + 4 + length > bytes.length) throw new RangeError("cut off");
    fields.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}

/** The bytes of a key or signature after the name of its kind. @throws Error for another kind. */
function bytesOf(field: Buffer): Buffer {
  const [type, bytes] = fieldsOf(field);
  if (String(type) !== KEY_TYPE || bytes === undefined) throw new Error("another kind of key");
  return bytes;
}

function packed(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
