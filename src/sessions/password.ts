import { FormsvcError } from "../foundation/errors.ts";

/** Whether people sign in by passwords at all. */
export type PasswordUse = "on" | "off";

/** @throws forbidden when passwords are off: then nobody signs in by one, and nobody sets one. */
export function requirePasswords(use: PasswordUse): void {
  if (use === "off")
    throw new FormsvcError(
      "forbidden",
      "Nobody signs in by a password here, so none is taken and none is set.",
    );
}

/** In bytes of UTF-8. */
export const MIN_PASSWORD_BYTES = 12;
const MAX_PASSWORD_BYTES = 1024;

/**
 * The one spelling of a password that is hashed, the whole of it: keyboards send the same letter as one character or as two.
 */
export function normalisePassword(text: string): string {
  return text.normalize("NFC");
}

/** @throws usage when a new password is too short or too long. */
export function checkPassword(text: string): void {
  const bytes = Buffer.byteLength(normalisePassword(text));
  if (bytes < MIN_PASSWORD_BYTES) {
    throw new FormsvcError(
      "usage",
      `The password is too short: it needs ${MIN_PASSWORD_BYTES} characters or more.`,
    );
  }
  if (bytes > MAX_PASSWORD_BYTES) {
    throw new FormsvcError(
      "usage",
      `The password is too long: it has ${bytes} bytes, at most ${MAX_PASSWORD_BYTES} are taken.`,
    );
  }
}
