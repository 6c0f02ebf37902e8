import { TEXT_PARAMETER } from "./parameters.ts";
import { all, first, run, type Steps, text } from "./steps.ts";

/** The number of changes whose subjects are kept. A server that has missed more drops everything from its memory. */
const KEPT_CHANGES = 1000;

/** What changes were about: the subjects of {@link raiseSettingsVersion}; null means everything. */
export type ChangedSettings = ReadonlySet<string> | null;

export const SETTINGS_SQL = {
  raise: "UPDATE settings_version SET version = version + 1",
  version: "SELECT version FROM settings_version",
  record: `INSERT INTO settings_change (slot, version, subject)
    SELECT version % ${KEPT_CHANGES}, version, ${TEXT_PARAMETER} FROM settings_version WHERE true
    ON CONFLICT (slot) DO UPDATE SET version = excluded.version, subject = excluded.subject`,
  /** It scans the table, which has up to {@link KEPT_CHANGES} rows. */
  changes: "SELECT version, subject FROM settings_change WHERE version > ?",
} as const;

/**
 * Raises the version by which a server notices that another process changed settings that it holds in memory. Every change to an endpoint,
 * schema, key or plan raises it in the same transaction, and so does a change of deliveries that their server must notice. The row of the
 * version is locked until the transaction ends, so the changes have the order of their commits.
 *
 * @param subject what is changed: the id of an endpoint or of a workspace; `rows` for what servers read for each batch or round, like
 * recipients, if nothing is kept of it by endpoint; or `everything`
 */
export function* raiseSettingsVersion(subject: string): Steps<void> {
  yield* run(text(SETTINGS_SQL.raise));
  yield* run(text(SETTINGS_SQL.record, subject));
}

export interface SettingsChange {
  readonly version: number;
  readonly subject: string;
}

/** The present version, and what has changed since another one. Call it in a read, which sees one state. */
export function* readSettingsSince(
  seen: number | null,
): Steps<{ readonly version: number; readonly changed: ChangedSettings }> {
  const { version = 0 } = (yield* first(text<{ version: number }>(SETTINGS_SQL.version))) ?? {};
  if (seen === null) return { version, changed: null };
  if (seen === version) return { version, changed: new Set() };
  const rows = yield* all(text<SettingsChange>(SETTINGS_SQL.changes, seen));
  return { version, changed: changedSettings(rows, seen, version) };
}

/** @param rows the changes after the version `seen`; there may be some after `version`. */
export function changedSettings(
  rows: readonly SettingsChange[],
  seen: number,
  version: number,
): ChangedSettings {
  const subjects = new Set(rows.map(({ subject }) => subject));
  const known = rows.filter((row) => row.version <= version).length;
  // A program of an earlier version raises the number alone, and old rows are overwritten.
  return subjects.has("everything") || known !== version - seen ? null : subjects;
}
