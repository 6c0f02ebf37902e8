import { query } from "../../database/database.ts";
import { first, run, type Steps, text } from "../../database/steps.ts";

/**
 * Keeps the frame of an e-mail: everything it is composed of besides its submissions. The frame is stored before the first attempt, so that
 * each later attempt has the same bytes, whatever settings change meanwhile. It is deleted with its delivery.
 *
 * @param frame a value that JSON can represent.
 * @returns the frame that was stored first; the given one if the delivery does not exist any more.
 */
export function* keepFrame<Frame>(deliveryId: string, frame: Frame): Steps<Frame> {
  const rows = query.selectFrom("mail_frame").select("frame").where("delivery_id", "=", deliveryId);
  const kept = yield* first(rows);
  if (kept !== undefined) return JSON.parse(kept.frame) as Frame;
  yield* run(text(KEEP_SQL, JSON.stringify(frame), deliveryId));
  return frame;
}

/** Inserts nothing if the delivery was deleted meanwhile with its submission. */
const KEEP_SQL = `INSERT INTO mail_frame (delivery_id, frame) SELECT id, ? FROM delivery WHERE id = ?
  ON CONFLICT DO NOTHING`;

/** Replaces a frame after the mail server has refused the e-mail, so that the next attempt has other bytes. */
export function* replaceFrame(deliveryId: string, frame: object): Steps<void> {
  const rows = query.updateTable("mail_frame").set({ frame: JSON.stringify(frame) });
  yield* run(rows.where("delivery_id", "=", deliveryId));
}
