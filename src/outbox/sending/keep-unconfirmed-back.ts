import type { Database } from "../../database/database.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Claims } from "./claims.ts";
import type { Lane } from "./lane.ts";
import type { RoundDraft } from "./round-draft.ts";

/** A message that was kept back becomes due again after this time. */
const LOOK_AGAIN_MS = 5000;

/** A lane with a message that was kept back, and when that message is due again. */
interface HeldUp {
  readonly lane: Lane;
  readonly until: number;
}

/**
 * Removes messages from a committed round that are about submissions which exist only on the primary and would be lost with it. While the
 * standby confirms, there are none, and the check costs one commit. If the database refuses, none of the claimed messages is sent, and
 * everything is read again.
 */
export async function keepUnconfirmedBack(
  db: Database,
  { unconfirmed }: Claims,
  draft: RoundDraft,
  now: number,
): Promise<readonly HeldUp[]> {
  const claimed = draft.claimed();
  if (unconfirmed === null || claimed.size === 0) return [];
  const safe = await unconfirmed.confirm();
  if (safe === null) return [];
  const until = now + LOOK_AGAIN_MS;
  const claims = [...claimed.values()].map(({ delivery }) => delivery);
  try {
    const ids = await db.relaxedTransaction(() => unconfirmed.postpone(claims, safe, until));
    draft.drop(ids);
    return [...ids].flatMap((id) => {
      const lane = claimed.get(id)?.lane;
      return lane === undefined ? [] : [{ lane, until }];
    });
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    draft.drop(new Set(claimed.keys()));
    draft.isStale = true;
    return [];
  }
}
