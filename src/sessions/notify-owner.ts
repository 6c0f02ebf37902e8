import type { Steps } from "../database/steps.ts";
import { queueLetter } from "../mail/letters/letter-store.ts";
import type { StoredLetters } from "../mail/letters/stored-letters.ts";
import { type SecurityChange, securityLetter } from "./account-letters.ts";

/** Notifies the owner of an account that a way to sign in to it was changed. */
export interface OwnerNotifier {
  /** Writes the letter in the transaction of the change, so that whoever makes the change cannot keep the letter from the owner. */
  write(email: string, change: SecurityChange, now: number): Steps<void>;
  /** Sends the letter. Call after the commit. */
  send(): void;
}

/** @param letters null sends no letters, and neither does a dashboard without an address. */
export function createOwnerNotifier(
  letters: Pick<StoredLetters, "wake"> | null,
  dashboardUrl: string | null,
): OwnerNotifier {
  return {
    *write(email, change, now) {
      if (letters === null || dashboardUrl === null) return;
      const letter = securityLetter(email, change, dashboardUrl);
      if (letter === null) return;
      const { to: address, ...content } = letter;
      yield* queueLetter({ kind: "security", topic: change, address, recipientId: null, content }, now);
    },
    send: () => letters?.wake(),
  };
}
