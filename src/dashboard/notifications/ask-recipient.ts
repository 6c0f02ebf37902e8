import type { Steps } from "../../database/steps.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { askHolder } from "../../mail/ask-holder.ts";
import { findLastQuestion } from "../../mail/letter-store.ts";
import { getViewableMailRecipient } from "../../mail/viewable-mail-recipients.ts";
import type { Attempt } from "../../outbox/queue/delivery.ts";
import type { Viewer } from "../../sessions/session.ts";
import type { DashboardParts } from "../parts.ts";
import { mailMissing } from "./recipient-words.ts";

/** Asks holders of addresses whether they want e-mail. */
export interface Asking {
  /** @throws unavailable when no e-mail can be sent */
  check(): void;
  /** Returns the notice that says what came of it. @throws unavailable as `check` does; not_found; conflict if the holder agreed */
  ask(viewer: Viewer, recipientId: string): Promise<"recipient-asked" | "recipient-not-asked">;
  /** How the last attempt ended to send the question; null if none has. */
  lastAttempt(recipientId: string): Steps<Attempt | null>;
}

export function createAsking({ db, clock, config, storedLetters }: DashboardParts): Asking {
  const { baseUrl } = config.server;
  const perHour = config.mail.limits.confirmationsPerHour;
  return {
    check() {
      const missing = mailMissing(config, false);
      if (missing !== null) throw new FormsvcError("unavailable", missing);
    },
    async ask(viewer, recipientId) {
      const isAsked = await db.transaction(function* () {
        const { recipient, endpoint } = yield* getViewableMailRecipient(viewer, recipientId);
        if (storedLetters === null || baseUrl === null) return null;
        const { address } = recipient.settings;
        if (recipient.confirmedAt !== null)
          throw new FormsvcError("conflict", `The holder of ${address} agreed already.`);
        const question = { recipient, endpointName: endpoint.name, asker: viewer, baseUrl, perHour };
        return yield* askHolder(question, clock.now());
      });
      if (isAsked === null) this.check();
      storedLetters?.wake();
      return isAsked === true ? "recipient-asked" : "recipient-not-asked";
    },
    *lastAttempt(recipientId) {
      return (yield* findLastQuestion(recipientId))?.lastAttempt ?? null;
    },
  };
}
