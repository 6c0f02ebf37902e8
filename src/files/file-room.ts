import { createHash } from "node:crypto";
import type { Database } from "../database/database.ts";
import { deleteSome } from "../database/some-rows.ts";
import { all, first, run, type Steps, text, textByEngine } from "../database/steps.ts";
import { LISTED_IDS, listParameter } from "../database/list-parameter.ts";
import { BoundedMap } from "../foundation/bounded-map.ts";
import { dayStart, toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { addressUnit, type NetworkList } from "../foundation/ip-address.ts";
import { countFileBytes } from "./file-store.ts";
import { fileValues, INSERT_FILE_SQL, type NewFile } from "./stored-file.ts";
import { DAY_MS } from "../foundation/time-units.ts";

/** The owner and sender of files, as far as limits depend on them. */
export interface Uploading {
  readonly endpointId: string;
  readonly workspaceId: string;
  /** The setting `plans.NAME.fileBytes`; null is unlimited. */
  readonly planBytes: number | null;
  readonly isPublishable: boolean;
  /** The IP address of the person, in canonical form; null if it is unknown. */
  readonly address: string | null;
  /** The setting `held.maxFileBytes`; present only if the post is held, because its files then also count as files of held posts. */
  readonly heldBytes?: number;
}

export interface FileRoomRules {
  readonly maxTotalBytes: number;
  /** Null is unlimited. */
  readonly maxBytesPerAddressPerDay: number | null;
  readonly maxFormShare: number;
  /** Networks without a limit for each address. */
  readonly exempt: NetworkList;
}

/** Files that have taken room, and the units that count their bytes. */
export interface TakenFiles {
  readonly day: string;
  readonly units: readonly string[];
  readonly files: readonly { readonly id: string; readonly size: number }[];
}

/**
 * The room for files, with its limits. The counts are in the database, so that the limits hold exactly for parallel posts and several
 * servers.
 */
export interface FileRoom {
  /** Checks whether there is room, and changes nothing. @throws as {@link FileRoom.take} does */
  check(uploading: Uploading, bytes: number, now: number): Promise<void>;
  /** If files were refused because a limit was reached, notes it, so that owners and operators are notified. */
  noteRefusal(uploading: Uploading, reason: unknown, now: number): Promise<void>;
  /**
   * Takes room for files and stores their rows, so that their bytes count from now on. If there is no room, notes the refusal.
   *
   * @throws upload_limit, storage_limit, unavailable; nothing was taken then.
   */
  take(uploading: Uploading, files: readonly NewFile[]): Promise<TakenFiles>;
  /**
   * Counts files that have taken room as files of a held post.
   *
   * @throws storage_limit if the files of the workspace's held posts would take too many bytes; nothing was changed then.
   */
  hold(uploading: Uploading, taken: TakenFiles): Promise<void>;
  /** Subtracts a file's bytes from the counts of its day, because the file was not stored. */
  giveBack(taken: TakenFiles, bytes: number): Promise<void>;
}

/** The client may try again after this time: meanwhile files may be deleted, or an operator may make room. */
const NO_ROOM_SECONDS = 60;
/** The number of a lock in PostgreSQL: posts with files take room one after the other, on all servers. */
const ROOM_LOCK = 7235461913;

export function createFileRoom(
  db: Pick<Database, "read" | "transaction" | "relaxedTransaction">,
  rules: FileRoomRules,
): FileRoom {
  const noteRefusal = createFullNotes(db);
  return {
    check: (uploading, bytes, now) => db.read(() => checkRoom(rules, uploading, bytes, now)),
    noteRefusal,
    async take(uploading, files) {
      const [bytes, now] = [sumOf(files), files[0]?.createdAt ?? 0];
      const [day, units] = [dayOf(now), unitsOf(rules, uploading).map(({ unit }) => unit)];
      const isForHeld = uploading.heldBytes !== undefined;
      const steps = function* (): Steps<TakenFiles> {
        yield* first(textByEngine(LOCK_SQL));
        yield* checkRoom(rules, uploading, bytes, now);
        yield* checkHeld(uploading, bytes);
        for (const unit of units) yield* run(text(ADD_USE_SQL, day, unit, bytes));
        for (const file of files) yield* run(text(INSERT_FILE_SQL, ...fileValues({ ...file, isForHeld })));
        return { day, units, files };
      };
      // The row of a file in the object store must survive a power cut, because without it nobody would delete the object.
      const isOutside = files.some(({ objectId }) => typeof objectId === "string");
      try {
        return await (isOutside ? db.transaction(steps) : db.relaxedTransaction(steps));
      } catch (error) {
        await noteRefusal(uploading, error, now);
        throw error;
      }
    },
    hold: (uploading, { files }) =>
      db.relaxedTransaction(function* () {
        yield* first(textByEngine(LOCK_SQL));
        yield* checkHeld(uploading, sumOf(files));
        yield* run(text(HOLD_SQL, listParameter(files.map(({ id }) => id))));
      }),
    giveBack: ({ day, units }, bytes) =>
      db.relaxedTransaction(function* () {
        for (const unit of units) yield* run(text(GIVE_BACK_SQL, bytes, day, unit));
      }),
  };
}

/** The number of days and limits remembered as noted already. */
const MAX_NOTED = 1000;

/** Notes once a day that a limit was too small for a post. */
function createFullNotes(db: Pick<Database, "relaxedTransaction">): FileRoom["noteRefusal"] {
  const noted = new BoundedMap<string, true>(MAX_NOTED);
  return async (uploading, reason, now) => {
    const unit = fullUnit(reason, uploading);
    const day = dayOf(now);
    if (unit === null || noted.has(`${day} ${unit}`)) return;
    noted.set(`${day} ${unit}`, true);
    // If this fails, the next refused post tries again.
    await db
      .relaxedTransaction(() => run(text(NOTE_FULL_SQL, day, unit)))
      .catch(() => noted.delete(`${day} ${unit}`));
  };
}

const NOTE_FULL_SQL = "INSERT INTO upload_use (day, unit, bytes) VALUES (?, ?, 0) ON CONFLICT DO NOTHING";
const SERVER_IS_FULL = "full server";
/** One row for all addresses, so that strangers cannot make many rows. */
const ADDRESS_IS_FULL = "full address";

function fullUnit(error: unknown, { workspaceId, endpointId }: Uploading): string | null {
  if (!(error instanceof FormsvcError)) return null;
  const limit = error.facts.details?.["limit"];
  if (limit === "fileBytes") return `full ${workspaceId}`;
  if (limit === "files.maxFormShare") return `full form ${endpointId}`;
  if (limit === "files.maxBytesPerAddressPerDay") return ADDRESS_IS_FULL;
  return limit === "files.maxTotalBytes" ? SERVER_IS_FULL : null;
}

/** Whether a post was refused today or yesterday because all files together reached `files.maxTotalBytes`. */
export function wasServerFull(now: number): Steps<boolean> {
  return wasFull(SERVER_IS_FULL, now);
}

/** Whether a post was refused today or yesterday because its address had used up its bytes for a day. */
export function wasAddressFull(now: number): Steps<boolean> {
  return wasFull(ADDRESS_IS_FULL, now);
}

function* wasFull(unit: string, now: number): Steps<boolean> {
  const sql = "SELECT 1 AS is_full FROM upload_use WHERE day >= ? AND unit = ?";
  return (yield* first(text(sql, dayOf(now - DAY_MS), unit))) !== undefined;
}

/** A form whose page has used up its bytes of files for a day. */
export interface FullForm {
  readonly endpointId: string;
  /** Whether that is today; false means yesterday. */
  readonly isToday: boolean;
}

/**
 * Lists the forms that refused a post today, then those that did yesterday, because their publishable keys had used up the form's bytes for
 * a day.
 */
export function* listFullForms(now: number): Steps<FullForm[]> {
  const rows = yield* all(text<{ id: string; day: string }>(FULL_FORMS_SQL, dayOf(now - DAY_MS)));
  return rows.map(({ id, day }) => ({ endpointId: id, isToday: day === dayOf(now) }));
}

const FULL_FORMS_SQL = `SELECT endpoint.id, max(upload_use.day) AS day
  FROM upload_use JOIN endpoint ON upload_use.unit = 'full form ' || endpoint.id
  WHERE upload_use.day >= ? GROUP BY endpoint.id ORDER BY 2 DESC, 1`;

/** SQLite needs no lock, because a file has only one writer at a time. */
const LOCK_SQL = { sqlite: "SELECT 1", postgresql: `SELECT pg_advisory_xact_lock(${ROOM_LOCK})` };
const ADD_USE_SQL = `INSERT INTO upload_use AS known (day, unit, bytes) VALUES (?, ?, ?)
  ON CONFLICT (day, unit) DO UPDATE SET bytes = known.bytes + excluded.bytes`;
const GIVE_BACK_SQL = "UPDATE upload_use SET bytes = bytes - ? WHERE day = ? AND unit = ?";
const USED_SQL = "SELECT bytes FROM upload_use WHERE day = ? AND unit = ?";
const WORKSPACE_SQL = `SELECT CAST(coalesce(sum(file_total.bytes), 0) AS bigint) AS bytes
  FROM endpoint JOIN file_total ON file_total.endpoint_id = endpoint.id WHERE endpoint.workspace_id = ?`;

/** The files of a workspace, together. */
export interface WorkspaceFiles {
  readonly workspaceId: string;
  readonly bytes: number;
  /** Whether files of a post did not fit today or yesterday. Yesterday counts because a post may be refused just before midnight. */
  readonly wasFull: boolean;
}

/** Lists the workspaces that have files, or for whose posts files did not fit. */
export function* listWorkspaceFiles(now: number): Steps<WorkspaceFiles[]> {
  const rows = yield* all(
    text<{ id: string; bytes: number; refused: number }>(BY_WORKSPACE_SQL, dayOf(now - DAY_MS)),
  );
  return rows.map(({ id, bytes, refused }) => ({ workspaceId: id, bytes, wasFull: refused > 0 }));
}

const BY_WORKSPACE_SQL = `SELECT id, CAST(sum(bytes) AS bigint) AS bytes, CAST(sum(refused) AS bigint) AS refused FROM (
    SELECT endpoint.workspace_id AS id, file_total.bytes AS bytes, 0 AS refused
      FROM file_total JOIN endpoint ON endpoint.id = file_total.endpoint_id
    UNION ALL SELECT substr(unit, 6), 0, 1 FROM upload_use WHERE day >= ? AND unit LIKE 'full ws%'
  ) AS counted GROUP BY id ORDER BY id`;

/** The bytes of all files of a workspace. */
export function* countWorkspaceBytes(workspaceId: string): Steps<number> {
  return (yield* first(text<{ readonly bytes: number }>(WORKSPACE_SQL, workspaceId)))?.bytes ?? 0;
}

/** The bytes of each form's files in a workspace, by the form's id; forms without files are left out. */
export function* listFormBytes(workspaceId: string): Steps<ReadonlyMap<string, number>> {
  const rows = yield* all(text<{ readonly id: string; readonly bytes: number }>(BY_FORM_SQL, workspaceId));
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

const BY_FORM_SQL = `SELECT endpoint.id, file_total.bytes AS bytes
  FROM endpoint JOIN file_total ON file_total.endpoint_id = endpoint.id WHERE endpoint.workspace_id = ?`;

/** Checks the limits, the most general first: if that one is reached, the others need no look. */
function* checkRoom(rules: FileRoomRules, uploading: Uploading, bytes: number, now: number): Steps<void> {
  const { planBytes, workspaceId } = uploading;
  if ((yield* countFileBytes()) + bytes > rules.maxTotalBytes)
    throw new FormsvcError("unavailable", "The server has no room for further files (files.maxTotalBytes).", {
      details: { limit: "files.maxTotalBytes", maximum: rules.maxTotalBytes },
      retryAfterSeconds: NO_ROOM_SECONDS,
    });
  if (planBytes !== null && (yield* countWorkspaceBytes(workspaceId)) + bytes > planBytes)
    throw new FormsvcError(
      "storage_limit",
      `The workspace has no room for these files: its plan keeps ${planBytes} bytes of files; upgrade the plan, or delete files.`,
      { details: { limit: "fileBytes", maximum: planBytes } },
    );
  const day = dayOf(now);
  for (const { unit, most, limit, whose } of unitsOf(rules, uploading)) {
    const used = (yield* first(text<{ readonly bytes: number }>(USED_SQL, day, unit)))?.bytes ?? 0;
    if (used + bytes > most) throw dayIsFull({ most, limit, whose }, now);
  }
}

const HOLD_SQL = `UPDATE file SET for_held = 1 WHERE id IN ${LISTED_IDS}`;
const HELD_SQL = `SELECT CAST(coalesce(sum(file.size), 0) AS bigint) AS bytes
  FROM endpoint JOIN file ON file.endpoint_id = endpoint.id AND file.for_held = 1 WHERE endpoint.workspace_id = ?`;

/** Checks the limit for files of held posts. @throws storage_limit */
function* checkHeld({ workspaceId, heldBytes }: Uploading, bytes: number): Steps<void> {
  if (heldBytes === undefined) return;
  const held = (yield* first(text<{ readonly bytes: number }>(HELD_SQL, workspaceId)))?.bytes ?? 0;
  if (held + bytes > heldBytes)
    throw new FormsvcError("storage_limit", "The room of the workspace for files of held posts is full.", {
      details: { limit: "held.maxFileBytes", maximum: heldBytes },
    });
}

interface DayUnit {
  readonly unit: string;
  /** The largest number of bytes in a day. */
  readonly most: number;
  readonly limit: string;
  readonly whose: string;
}

/** Lists the units that count the bytes of a post by day, with their limits. */
function unitsOf(rules: FileRoomRules, uploading: Uploading): DayUnit[] {
  const { address, planBytes, endpointId, isPublishable } = uploading;
  const perAddress = rules.maxBytesPerAddressPerDay;
  const units: DayUnit[] = [];
  if (perAddress !== null && address !== null && address !== "" && !rules.exempt.contains(address))
    units.push({
      unit: `address ${createHash("sha256").update(addressUnit(address)).digest("base64url")}`,
      most: perAddress,
      limit: "files.maxBytesPerAddressPerDay",
      whose: "from one address",
    });
  if (isPublishable)
    units.push({
      unit: `form ${endpointId}`,
      most: formShareBytes(rules, planBytes),
      limit: "files.maxFormShare",
      whose: "through the page of one form",
    });
  return units;
}

/** The largest number of bytes that the publishable keys of one form may bring in a day. @param planBytes null is unlimited */
export function formShareBytes(
  { maxTotalBytes, maxFormShare }: Pick<FileRoomRules, "maxTotalBytes" | "maxFormShare">,
  planBytes: number | null,
): number {
  return Math.floor(Math.min(planBytes ?? Infinity, maxTotalBytes) * maxFormShare);
}

function dayIsFull({ most, limit, whose }: Omit<DayUnit, "unit">, now: number): FormsvcError {
  return new FormsvcError(
    "upload_limit",
    `No more than ${most} bytes of files may come in a day (UTC) ${whose} (${limit}).`,
    {
      details: { limit, maximum: most },
      retryAfterSeconds: Math.ceil((dayStart(now) + DAY_MS - now) / 1000),
    },
  );
}

/** The UTC day of a time, as `YYYY-MM-DD`. */
export function dayOf(now: number): string {
  return toIsoTime(now).slice(0, 10);
}

function sumOf(files: readonly { readonly size: number }[]): number {
  return files.reduce((bytes, { size }) => bytes + size, 0);
}

/** Deletes up to 500 counts of days before yesterday. Returns the number deleted. */
export function dropOldUploads(now: number): Steps<number> {
  return run(textByEngine(DROP_OLD_SQL, dayOf(now - DAY_MS)));
}

const DROP_OLD_SQL = deleteSome(
  "upload_use",
  ["day", "unit"],
  (key) => `SELECT ${key} FROM upload_use WHERE day < ? LIMIT 500`,
);
