import type { Letters } from "../mail/letters.ts";
import { type SecurityChange, securityLetter } from "./account-letters.ts";

/** Tells the owner of an account that somebody changed how it signs in. It is called after the change, and never throws. */
export type TellOwner = (email: string, change: SecurityChange) => void;

/** @param letters null tells nobody, as does a dashboard without an address. */
export function createTellOwner(
  letters: Pick<Letters, "send"> | null,
  dashboardUrl: string | null,
): TellOwner {
  if (letters === null || dashboardUrl === null) return () => {};
  return (email, change) => {
    const letter = securityLetter(email, change, dashboardUrl);
    if (letter !== null) letters.send({ kind: "security", address: letter.to, write: async () => letter });
  };
}
