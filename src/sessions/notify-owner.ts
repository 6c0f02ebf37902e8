import type { Steps } from "../database/steps.ts";
import { queueLetter } from "../mail/letter-store.ts";
import type { StoredLetters } from "../mail/stored-letters.ts";
import { type SecurityChange, securityLetter } from "./account-letters.ts";

/** Notifies the owner of an account that somebody changed how it signs in. */
export interface OwnerNotifier {
  /** Writes the letter in the transaction of the change: who makes it cannot keep the owner from hearing of it. */
  write(email: string, change: SecurityChange, now: number): Steps<void>;
  /** Sends it. Call it after the commit. */
  send(): void;
}

/** @param letters null notifies nobody, as does a dashboard without an address. */
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
