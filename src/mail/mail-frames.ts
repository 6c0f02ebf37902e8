import { query } from "../database/database.ts";
import { first, run, type Steps, text } from "../database/steps.ts";

/**
 * What an e-mail is made of besides its submissions is kept before its first attempt, so that each later one has the same bytes, whatever
 * is set in between. It goes with its delivery.
 *
 * @param frame as JSON can hold it.
 * @returns the one that was kept first; the given one if the delivery is gone.
 */
export function* keepFrame<Frame>(deliveryId: string, frame: Frame): Steps<Frame> {
  const rows = query.selectFrom("mail_frame").select("frame").where("delivery_id", "=", deliveryId);
  const kept = yield* first(rows);
  if (kept !== undefined) return JSON.parse(kept.frame) as Frame;
  yield* run(text(KEEP_SQL, JSON.stringify(frame), deliveryId));
  return frame;
}

/** Its submission may have been deleted meanwhile. */
const KEEP_SQL = `INSERT INTO mail_frame (delivery_id, frame) SELECT id, ? FROM delivery WHERE id = ?
  ON CONFLICT DO NOTHING`;

/** Changes a frame after an attempt that nobody took, and before one with other bytes. */
export function* replaceFrame(deliveryId: string, frame: object): Steps<void> {
  const rows = query.updateTable("mail_frame").set({ frame: JSON.stringify(frame) });
  yield* run(rows.where("delivery_id", "=", deliveryId));
}
