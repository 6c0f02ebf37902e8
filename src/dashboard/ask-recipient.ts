import { FormsvcError } from "../foundation/errors.ts";
import { createRateLimiter, type RateLimit } from "../foundation/rate-limit.ts";
import { confirmationLetter } from "../mail/mail-links.ts";
import type { SmtpResult } from "../mail/smtp-result.ts";
import { getViewableMailRecipient } from "../mail/viewable-mail-recipients.ts";
import type { Viewer } from "../sessions/session.ts";
import type { DashboardParts } from "./parts.ts";
import { mailMissing } from "./recipient-words.ts";

/** Of one account: whoever gets such a letter may know nothing of this server. */
const BY_ACCOUNT: RateLimit = { max: 20, windowSeconds: 3600 };

/** Asks holders of addresses whether they want e-mail. */
export interface Asking {
  /** @throws unavailable when no e-mail can be sent */
  check(): void;
  /** Returns the notice that says what came of it. @throws unavailable as `check` does; not_found; conflict if the holder agreed */
  ask(viewer: Viewer, recipientId: string): Promise<"recipient-asked" | "recipient-not-asked">;
  /** How the last attempt ended to send the question; null if none has, or it is long ago. */
  lastAttempt(recipientId: string): SmtpResult | null;
}

/** Questions whose last attempt is remembered. */
const MAX_REMEMBERED = 1000;

export function createAsking({ db, clock, config, letters }: DashboardParts): Asking {
  const limiter = createRateLimiter();
  const attempts = new Map<string, SmtpResult>();
  const note = (recipientId: string, result: SmtpResult): void => {
    attempts.delete(recipientId);
    if (attempts.size >= MAX_REMEMBERED) attempts.delete(attempts.keys().next().value ?? "");
    attempts.set(recipientId, result);
  };
  return {
    check() {
      const missing = mailMissing(config, false);
      if (missing !== null) throw new FormsvcError("unavailable", missing);
    },
    async ask(viewer, recipientId) {
      const { recipient, endpoint } = await db.read(() => getViewableMailRecipient(viewer, recipientId));
      this.check();
      const { address } = recipient.settings;
      if (recipient.confirmedAt !== null)
        throw new FormsvcError("conflict", `The holder of ${address} agreed already.`);
      const { baseUrl } = config.server;
      const hasRoom = limiter.count(viewer.accountId, BY_ACCOUNT)?.allowed ?? true;
      if (letters === null || baseUrl === null || !hasRoom) return "recipient-not-asked";
      const written = { db, clock, baseUrl, actor: viewer, endpointName: endpoint.name };
      const letter = confirmationLetter(written, recipient);
      const onAttempt = (result: SmtpResult): void => note(recipientId, result);
      return letters.send({ ...letter, onAttempt }) === "taken" ? "recipient-asked" : "recipient-not-asked";
    },
    lastAttempt: (recipientId) => attempts.get(recipientId) ?? null,
  };
}
