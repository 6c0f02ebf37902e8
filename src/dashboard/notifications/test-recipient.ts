import { createRateLimiter, type RateLimit } from "../../foundation/rate-limit.ts";
import { recordRecipientChange } from "../../mail/change-mail-recipient.ts";
import type { MailRecipient } from "../../mail/mail-recipient.ts";
import type { TestMail } from "../../mail/send-test-mail.ts";
import { countAction } from "../../outbox/queue/account-limits.ts";
import type { Viewer } from "../../sessions/session.ts";
import type { DashboardParts } from "../parts.ts";

/** Who presses the button may mean no good to who reads the mailbox, or to the mail server's name. */
const BY_ADDRESS: RateLimit = { max: 5, windowSeconds: 3600 };
/** What `mail.limits.perMinute` is divided by, for the tests of all accounts. */
const SHARE = 4;
/** Tests at once; each holds a connection that submissions wait for. */
const MAX_AT_ONCE = 2;

/** A test e-mail, or the sentence that says why none was sent. */
export type MailTest = TestMail | string;

/** Sends test e-mails, bounded, and records who did. Rejects with rate_limited if the account sent too many tests of any kind. */
export type TestRecipient = (viewer: Viewer, recipient: MailRecipient, now: number) => Promise<MailTest>;

/** Null if no mail server is configured. */
export function createRecipientTests({ db, sendTestMail, config }: DashboardParts): TestRecipient | null {
  if (sendTestMail === null) return null;
  const limiter = createRateLimiter();
  const ofAll = { max: Math.max(1, Math.floor(config.mail.limits.perMinute / SHARE)), windowSeconds: 60 };
  const underWay = new Set<string>();
  return async (viewer, recipient, now) => {
    const { accountId } = viewer;
    const { address } = recipient.settings;
    if (underWay.size >= MAX_AT_ONCE || underWay.has(accountId)) return AT_ONCE;
    const units = [
      [`address ${address.toLowerCase()}`, BY_ADDRESS],
      ["all", ofAll],
    ] as const;
    const full = units.map(([unit, limit]) => limiter.look(unit, limit)).find((state) => !state?.allowed);
    if (full) return tooMany(full.resetSeconds);
    for (const [unit, limit] of units) limiter.count(unit, limit);
    underWay.add(accountId);
    try {
      await db.transaction(function* () {
        yield* countAction(viewer, "test", 1, now);
        yield* recordRecipientChange(viewer, "test", recipient, now);
      });
      return await sendTestMail(address);
    } finally {
      underWay.delete(accountId);
    }
  };
}

const AT_ONCE = "Another test e-mail is under way. Try it again in a moment.";

function tooMany(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  return `No e-mail was sent, because too many tests were sent before it. Try it again in ${wait}.`;
}
