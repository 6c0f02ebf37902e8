import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { SpamPost } from "../spam/judge.ts";
import { LESSON_BUCKETS, shiftOf } from "../spam/lesson.ts";
import {
  countOthers,
  emailHash,
  type PostTrace,
  type Sender,
  senderOf,
  teachingOf,
  traceOf,
} from "../spam/post-trace.ts";
import { noHistory, type SpamHistory } from "../spam/spam-history.ts";
import { isCopy, type TextSketch } from "../spam/text-sketch.ts";
import type { BurstMemory } from "./burst-memory.ts";
import type { RecentTexts } from "./recent-texts.ts";
import { createRememberedKeys, type RememberedKeys } from "./remembered-keys.ts";

/** What a workspace knows that bears on a post, and what to remember of the post once it is stored. */
export interface Recollection {
  readonly history: SpamHistory;
  readonly trace: PostTrace;
  /** The remembered text that this post is a copy of; null where there is none. */
  readonly textId: number | null;
}

/** Texts without marks that a workspace remembers; the oldest are forgotten. */
const MAX_TEXTS = 10_000;
/** Texts are counted once in so many, and forgotten so many at a time at most. */
const FORGET_EVERY = 64;
/** Senders remembered for one text: more say no more. */
const MAX_SENDERS = 8;
/** Remembered texts that a post is compared with. */
const MAX_CANDIDATES = 8;
/** Workspaces whose weights are kept in memory, at 32 KiB each. */
const MAX_WEIGHTS = 100;
/** Keys of a sketch; a short text's only key is asked for as often. */
const MAX_KEYS = 5;

export interface SpamMemory {
  /** Reads what bears on the post; remembers nothing, except in the memory of recent posts if there is one. */
  recall(workspaceId: string, endpointId: string, post: SpamPost, now: number): Recollection;
  /** Call it in the transaction that stores the post. Returns the id of its text; null for a short one. */
  remember(workspaceId: string, recollection: Pick<Recollection, "trace" | "textId">): number | null;
  /** Another process may have marked or remembered something: reads that anew from now on. */
  forget(): void;
}

interface TextRow {
  readonly id: number;
  readonly workspace_id: string;
  readonly keys: string;
  readonly sketch: Buffer;
  readonly senders: string;
  readonly marked_spam: number;
  readonly marked_ham: number;
}

/** What a process remembers of the last posts until it ends. */
export interface RecentPosts {
  readonly bursts: BurstMemory;
  readonly texts: RecentTexts;
}

/** @param recent null where nothing is posted, as in commands. */
export function createSpamMemory(db: SqliteDatabase, recent: RecentPosts | null): SpamMemory {
  const selectTrust = db
    .prepare(
      `SELECT count(*) FILTER (WHERE mark = 'ham') > 0 AND count(*) FILTER (WHERE mark = 'spam') = 0
       FROM lesson WHERE workspace_id = ? AND email = ?`,
    )
    .pluck();
  const weights = createWeightReader(db);
  const remembered = createRememberedKeys(db, (workspaceId, keys) =>
    scopedKeys(workspaceId, JSON.parse(keys) as number[]),
  );
  const findCopies = createCopyFinder(db, remembered);
  return {
    recall(workspaceId, endpointId, post, now) {
      const trace = traceOf(post);
      const { sketch, email, network } = trace;
      const texts = sketch === null ? noTexts : findCopies(workspaceId, sketch);
      const kept = texts.length === 0 ? noHistory.copies : copiesAmong(texts, senderOf(trace));
      const recentOthers = recent?.texts.note(workspaceId, trace) ?? 0;
      const taught = weights.read(workspaceId);
      const history: SpamHistory = {
        copies: recentOthers > kept.otherSenders ? { ...kept, otherSenders: recentOthers } : kept,
        trustedSender:
          taught !== null && email !== null && selectTrust.get(workspaceId, emailHash(email)) === 1,
        burst:
          recent === null || network === null
            ? noHistory.burst
            : recent.bursts.note(`${workspaceId} ${network}`, endpointId, now),
        shift: taught === null ? 0 : shiftOf(taught, teachingOf(post).buckets),
      };
      return { history, trace, textId: texts[0]?.id ?? null };
    },
    remember: createTextWriter(db, remembered),
    forget() {
      weights.forget();
      remembered.catchUp();
    },
  };
}

const noTexts: readonly TextRow[] = [];

function copiesAmong(texts: readonly TextRow[], sender: Sender): SpamHistory["copies"] {
  return {
    otherSenders: countOthers(
      sender,
      texts.flatMap((text) => sendersOf(text.senders)),
    ),
    markedSpam: texts.reduce((sum, text) => sum + text.marked_spam, 0),
    markedHam: texts.reduce((sum, text) => sum + text.marked_ham, 0),
  };
}

/** Nearly every post is new, so the keys alone are asked for first: in memory, then in the database. */
function createCopyFinder(
  db: SqliteDatabase,
  remembered: RememberedKeys,
): (workspaceId: string, sketch: TextSketch) => readonly TextRow[] {
  const selectIds = db
    .prepare(
      `SELECT text_id FROM remembered_text_key WHERE key IN (?, ?, ?, ?, ?) LIMIT ${MAX_KEYS * MAX_CANDIDATES}`,
    )
    .pluck();
  const selectText = db.prepare("SELECT * FROM remembered_text WHERE id = ? AND workspace_id = ?");
  return (workspaceId, sketch) => {
    const known = scopedKeys(workspaceId, sketch.keys);
    if (!remembered.mayHold(known)) return noTexts;
    const [first] = known;
    const keys = Array.from({ length: MAX_KEYS }, (_, index) => known[index] ?? first);
    const ids = new Set(selectIds.all(...keys) as number[]);
    return [...ids].slice(0, MAX_CANDIDATES).flatMap((id) => {
      const row = selectText.get(id, workspaceId) as TextRow | undefined;
      if (row === undefined) return [];
      return isCopy(sketch, { keys: JSON.parse(row.keys) as number[], values: asValues(row.sketch) })
        ? [row]
        : [];
    });
  };
}

/** A sketch's keys as they are stored: every workspace has its own, so that lookups meet no other's. */
function scopedKeys(workspaceId: string, keys: readonly number[]): number[] {
  let scope = 0;
  for (let at = 0; at < workspaceId.length; at += 1)
    scope = (Math.imul(scope, 31) + workspaceId.charCodeAt(at)) >>> 0;
  return keys.map((key) => key + scope * 2 ** 20);
}

function sendersOf(json: string): Sender[] {
  return (JSON.parse(json) as [string | null, string | null][]).map(([email, network]) => ({
    email,
    network,
  }));
}

function asValues(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
}

function createTextWriter(db: SqliteDatabase, remembered: RememberedKeys): SpamMemory["remember"] {
  const insertText = db.prepare(
    "INSERT INTO remembered_text (workspace_id, keys, sketch, senders) VALUES (?, ?, ?, ?)",
  );
  const insertKey = db.prepare("INSERT OR IGNORE INTO remembered_text_key (key, text_id) VALUES (?, ?)");
  const selectSenders = db.prepare("SELECT senders FROM remembered_text WHERE id = ?").pluck();
  const updateSenders = db.prepare("UPDATE remembered_text SET senders = ? WHERE id = ?");
  const selectExact = db.prepare("SELECT text_id FROM remembered_text_key WHERE key = ? LIMIT 1").pluck();
  const forgetOldest = createForgetter(db);
  return (workspaceId, { trace, textId: recalledId }) => {
    const { sketch } = trace;
    if (sketch === null) return null;
    const sender = senderOf(trace);
    const keys = scopedKeys(workspaceId, sketch.keys);
    // Another post of the same batch may have brought the same text after this one was looked up.
    const textId = recalledId ?? (selectExact.get(keys[0]) as number | undefined) ?? null;
    const known = textId === null ? undefined : (selectSenders.get(textId) as string | undefined);
    if (textId !== null && known !== undefined) {
      const senders = sendersOf(known);
      if (senders.length < MAX_SENDERS && !senders.some((one) => isSame(one, sender))) {
        updateSenders.run(sendersJson([...senders, sender]), textId);
      }
      return textId;
    }
    const bytes = Buffer.alloc(sketch.values.length * 4);
    sketch.values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
    const kept = insertText.run(workspaceId, JSON.stringify(sketch.keys), bytes, sendersJson([sender]));
    const id = Number(kept.lastInsertRowid);
    for (const key of keys) insertKey.run(key, id);
    remembered.add(keys);
    if (id % FORGET_EVERY === 0) forgetOldest(workspaceId);
    return id;
  };
}

function createForgetter(db: SqliteDatabase): (workspaceId: string) => void {
  const unmarked = "FROM remembered_text WHERE workspace_id = ? AND marked_spam = 0 AND marked_ham = 0";
  const selectBound = db
    .prepare(`SELECT id ${unmarked} ORDER BY id DESC LIMIT 1 OFFSET ${MAX_TEXTS}`)
    .pluck();
  const selectOldest = db.prepare(
    `SELECT id, keys ${unmarked} AND id <= ? ORDER BY id LIMIT ${4 * FORGET_EVERY}`,
  );
  const deleteText = db.prepare("DELETE FROM remembered_text WHERE id = ?");
  const deleteKey = db.prepare("DELETE FROM remembered_text_key WHERE key = ? AND text_id = ?");
  return (workspaceId) => {
    const bound = selectBound.get(workspaceId);
    if (bound === undefined) return;
    for (const { id, keys } of selectOldest.all(workspaceId, bound) as { id: number; keys: string }[]) {
      for (const key of scopedKeys(workspaceId, JSON.parse(keys) as number[])) deleteKey.run(key, id);
      deleteText.run(id);
    }
  };
}

function isSame(one: Sender, other: Sender): boolean {
  return one.email === other.email && one.network === other.network;
}

function sendersJson(senders: readonly Sender[]): string {
  return JSON.stringify(senders.map(({ email, network }) => [email, network]));
}

/** The weights that a workspace's marks taught, null before any mark; read once until they are forgotten. */
function createWeightReader(db: SqliteDatabase): {
  read(workspaceId: string): Float32Array | null;
  forget(): void;
} {
  const selectWeights = db.prepare("SELECT weights FROM learned_weights WHERE workspace_id = ?").pluck();
  const selectVersion = db.prepare("SELECT version FROM learned_weights WHERE workspace_id = ?").pluck();
  const known = new Map<string, { version: unknown; weights: Float32Array | null; isFresh: boolean }>();
  return {
    read(workspaceId) {
      const entry = known.get(workspaceId);
      if (entry?.isFresh === true) return entry.weights;
      const version = selectVersion.get(workspaceId);
      const bytes =
        version === undefined || version === entry?.version ? undefined : selectWeights.get(workspaceId);
      const weights = bytes === undefined ? (entry?.weights ?? null) : floatsOf(bytes as Buffer);
      if (known.size >= MAX_WEIGHTS && entry === undefined) known.clear();
      known.set(workspaceId, { version, weights, isFresh: true });
      return weights;
    },
    forget() {
      for (const entry of known.values()) entry.isFresh = false;
    },
  };
}

function floatsOf(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: LESSON_BUCKETS }, (_, index) => bytes.readFloatLE(index * 4));
}
