import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * Codes of an authenticator app: RFC 6238 over RFC 4226, with the values that every app uses by default (SHA-1, 6 digits, 30 seconds). A
 * library would add seven more packages for these few lines.
 */

/** The length that RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
/** The number of steps before and after the present one whose codes are accepted, because clocks differ. */
const TOLERANCE = 1;
/** The alphabet of RFC 4648. */
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The code of one step of 30 seconds, counted from 1970. */
function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, "0");
}

/** The code that an app shows at this time. */
export function totpCode(secret: Buffer, now: number): string {
  return codeOf(secret, Math.floor(now / STEP_MS));
}

/** The step that the code belongs to: the present one, the one before or the one after; undefined if it belongs to none of them. */
export function findStep(secret: Buffer, code: string, now: number): number | undefined {
  const given = Buffer.from(code.padEnd(DIGITS).slice(0, DIGITS));
  if (code.length !== DIGITS || given.length !== DIGITS) return undefined;
  const present = Math.floor(now / STEP_MS);
  let found: number | undefined;
  for (let step = Math.max(0, present - TOLERANCE); step <= present + TOLERANCE; step += 1)
    if (timingSafeEqual(Buffer.from(codeOf(secret, step)), given)) found = step;
  return found;
}

/** The address in the QR code for an app. @param issuer the name of this installation in the app. */
export function otpauthUri(secret: Buffer, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

/** Base32 without padding. */
export function toBase32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE32.charAt(Number.parseInt(group.padEnd(5, "0"), 2))).join("");
}

/** The secret from its shown text; null if the text is not such a secret. */
export function readTotpSecret(text: string): Buffer | null {
  if (!/^[A-Z2-7]{32}$/.test(text)) return null;
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((group) => Number.parseInt(group, 2)));
}
