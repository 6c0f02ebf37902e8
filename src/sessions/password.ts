import { FormsvcError } from "../foundation/errors.ts";

/** Whether people may sign in with passwords. */
export type PasswordUse = "on" | "off";

/** @throws forbidden if passwords are off: then nobody signs in with one, and nobody sets one. */
export function requirePasswords(use: PasswordUse): void {
  if (use === "off")
    throw new FormsvcError(
      "forbidden",
      "Nobody signs in by a password here, so none is taken and none is set.",
    );
}

/** In UTF-8 bytes. */
export const MIN_PASSWORD_BYTES = 12;
const MAX_PASSWORD_BYTES = 1024;

/** The one form of a password that is hashed. It is normalised, because keyboards send the same letter as one character or as two. */
export function normalisePassword(text: string): string {
  return text.normalize("NFC");
}

/** @throws usage if a new password is too short or too long. */
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
