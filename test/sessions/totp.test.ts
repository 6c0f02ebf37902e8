import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import {
  findStep,
  newTotpSecret,
  otpauthUri,
  readTotpSecret,
  toBase32,
  totpCode,
} from "../../src/sessions/totp.ts";

/** RFC 6238, appendix B, for SHA-1; the last six of its eight digits. */
const SECRET = Buffer.from("12345678901234567890");
const VECTORS = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
] as const;

test("the codes are those of RFC 6238", () => {
  for (const [second, code] of VECTORS) expect(totpCode(SECRET, second * 1000), String(second)).toBe(code);
});

test("a code is taken in its own 30 seconds, those before and those after", () => {
  const now = 1_234_567_890_000;
  const step = Math.floor(now / 30_000);
  const code = totpCode(SECRET, now);
  for (const off of [-1, 0, 1]) expect(findStep(SECRET, code, now + off * 30_000), String(off)).toBe(step);
  for (const off of [-2, 2]) expect(findStep(SECRET, code, now + off * 30_000), String(off)).toBeUndefined();
});

test("nothing but six digits of this secret is taken", () => {
  const now = 59_000;
  for (const wrong of ["", "28708", "2870820", "287 082", "２８７０８２", "287083", "éééééé", "\u0000287082"])
    expect(findStep(SECRET, wrong, now), wrong).toBeUndefined();
  expect(findStep(randomBytes(20), "not digits", now)).toBeUndefined();
});

test("a secret has 160 random bits and is read back from the text that is shown", () => {
  const secret = newTotpSecret();
  expect(secret).toHaveLength(20);
  expect(readTotpSecret(toBase32(secret))).toEqual(secret);
  // RFC 4648, section 10, and the key that Google Authenticator's description uses.
  expect(toBase32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
  expect(toBase32(Buffer.from("Hello!\u00de\u00ad\u00be\u00ef", "latin1"))).toBe("JBSWY3DPEHPK3PXP");
  for (const wrong of ["", "JBSWY3DPEHPK3PXP", toBase32(secret).toLowerCase(), `${toBase32(secret)}A`])
    expect(readTotpSecret(wrong), wrong).toBeNull();
});

test("the address in the QR code holds names with any character", () => {
  const uri = new URL(otpauthUri(SECRET, "ana+a&b@example.org", "forms.example.org:8443"));
  expect(uri.protocol + uri.host).toBe("otpauth:totp");
  expect(decodeURIComponent(uri.pathname)).toBe("/forms.example.org:8443:ana+a&b@example.org");
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
    issuer: "forms.example.org:8443",
  });
});
