import { first, run, type Steps, text } from "../../database/steps.ts";
import { FRESH_PACE, type PaceState } from "./pace.ts";

export const PACE_SQL = {
  read: `SELECT window_at, window_sent, hour_at, hour_sent, gathers_until FROM recipient_pace WHERE recipient_id = ?`,
  write: `INSERT INTO recipient_pace (recipient_id, window_at, window_sent, hour_at, hour_sent, gathers_until)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (recipient_id) DO UPDATE SET window_at = excluded.window_at,
      window_sent = excluded.window_sent, hour_at = excluded.hour_at, hour_sent = excluded.hour_sent,
      gathers_until = excluded.gathers_until`,
} as const;

interface PaceRow {
  readonly window_at: number;
  readonly window_sent: number;
  readonly hour_at: number;
  readonly hour_sent: number;
  readonly gathers_until: number | null;
}

export function* readPace(recipientId: string): Steps<PaceState> {
  const row = yield* first(text<PaceRow>(PACE_SQL.read, recipientId));
  if (row === undefined) return FRESH_PACE;
  return {
    windowAt: row.window_at,
    windowSent: row.window_sent,
    hourAt: row.hour_at,
    hourSent: row.hour_sent,
    gathersUntil: row.gathers_until,
  };
}

export function* writePace(recipientId: string, state: PaceState): Steps<void> {
  const { windowAt, windowSent, hourAt, hourSent, gathersUntil } = state;
  yield* run(text(PACE_SQL.write, recipientId, windowAt, windowSent, hourAt, hourSent, gathersUntil));
}
