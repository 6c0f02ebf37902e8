import type { Database } from "../../database/database.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Claims } from "./claims.ts";
import type { Lane } from "./lane.ts";
import type { RoundDraft } from "./round-draft.ts";

/** What the standby may not have is looked at again after this time. */
const LOOK_AGAIN_MS = 5000;

/** A lane has something that must wait until then. */
interface HeldUp {
  readonly lane: Lane;
  readonly until: number;
}

/**
 * Takes out of a round that is committed what is about submissions which a lost primary would take with it. While the standby is there,
 * nothing is, and this costs one commit. If the database refuses, nothing is sent of what was claimed, and everything is
 * read again.
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
