import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { SpamPost } from "../spam/spam-post.ts";
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
import { createRememberedKeys, type RememberedKeys } from "./remembered-keys.ts";

/** What a workspace knows about posts like this one, and what to remember of the post when it is stored. */
export interface Recollection {
  readonly history: SpamHistory;
  readonly trace: PostTrace;
  /** The remembered text that this post is a copy of; null if there is none. */
  readonly textId: number | null;
}

/** Texts without marks that a workspace remembers; the oldest are forgotten. */
const MAX_TEXTS = 10_000;
/** Each time this many texts were added, the oldest beyond the limit are forgotten, at most four times as many at once. */
const FORGET_EVERY = 64;
/** Senders remembered for one text; more would not change the result. */
const MAX_SENDERS = 8;
/** Most remembered texts that a post is compared with. */
const MAX_CANDIDATES = 8;
/** Workspaces whose weights are kept in memory, at 32 KiB each. */
const MAX_WEIGHTS = 100;
/** Keys of a sketch; a short text's only key is asked for as often. */
const MAX_KEYS = 5;

export interface SpamMemory {
  /** Reads what is known about the post; stores nothing, except in the memory of bursts if there is one. */
  recall(workspaceId: string, endpointId: string, post: SpamPost, now: number): Recollection;
  /**
   * Call it in the transaction that stores the posts, with all of them: copies of one text are then read and written once.
   * Returns the ids of their texts, null for a short one.
   */
  remember(posts: readonly RecalledPost[]): (number | null)[];
  /** Another process may have marked or remembered something: reads it again from now on. */
  forget(): void;
}

/** A post that was recalled and is stored. */
export interface RecalledPost {
  readonly workspaceId: string;
  readonly recollection: Recollection;
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

/** @param bursts null in commands, which take no posts. */
export function createSpamMemory(db: SqliteDatabase, bursts: BurstMemory | null): SpamMemory {
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
  const remember = createTextWriter(db, remembered);
  return {
    recall(workspaceId, endpointId, post, now) {
      const trace = traceOf(post);
      const { sketch, email, network } = trace;
      const texts = sketch === null ? noTexts : findCopies.find(workspaceId, sketch);
      const taught = weights.read(workspaceId);
      const history: SpamHistory = {
        copies: texts.length === 0 ? noHistory.copies : copiesAmong(texts, senderOf(trace)),
        trustedSender:
          taught !== null && email !== null && selectTrust.get(workspaceId, emailHash(email)) === 1,
        burst:
          bursts === null || network === null
            ? noHistory.burst
            : bursts.note(`${workspaceId} ${network}`, endpointId, now),
        shift: taught === null ? 0 : shiftOf(taught, teachingOf(post).buckets),
      };
      return { history, trace, textId: texts[0]?.id ?? null };
    },
    remember(posts) {
      findCopies.forget();
      return remember(posts);
    },
    forget() {
      findCopies.forget();
      weights.forget();
      remembered.catchUp();
    },
  };
}

/** A remembered text that a post is a copy of. */
interface KnownText {
  readonly id: number;
  readonly senders: readonly Sender[];
  readonly markedSpam: number;
  readonly markedHam: number;
}

const noTexts: readonly KnownText[] = [];

function copiesAmong(texts: readonly KnownText[], sender: Sender): SpamHistory["copies"] {
  return {
    otherSenders: countOthers(
      sender,
      texts.flatMap(({ senders }) => senders),
    ),
    markedSpam: texts.reduce((sum, { markedSpam }) => sum + markedSpam, 0),
    markedHam: texts.reduce((sum, { markedHam }) => sum + markedHam, 0),
  };
}

/** The remembered texts that a text is a copy of; kept until something may have changed them. */
interface CopyFinder {
  find(workspaceId: string, sketch: TextSketch): readonly KnownText[];
  forget(): void;
}

/** Texts whose copies are known without asking the database: those of the posts that wait for the disk together. */
const MAX_FOUND = 256;

/** Nearly every post is new, so only the keys are looked up first: in memory, then in the database. */
function createCopyFinder(db: SqliteDatabase, remembered: RememberedKeys): CopyFinder {
  const selectIds = db
    .prepare(
      `SELECT text_id FROM remembered_text_key WHERE key IN (?, ?, ?, ?, ?) LIMIT ${MAX_KEYS * MAX_CANDIDATES}`,
    )
    .pluck();
  const selectText = db.prepare("SELECT * FROM remembered_text WHERE id = ? AND workspace_id = ?");
  const read = (workspaceId: string, sketch: TextSketch, known: readonly number[]): readonly KnownText[] => {
    const [first] = known;
    const keys = Array.from({ length: MAX_KEYS }, (_, index) => known[index] ?? first);
    const ids = new Set(selectIds.all(...keys) as number[]);
    return [...ids].slice(0, MAX_CANDIDATES).flatMap((id) => {
      const row = selectText.get(id, workspaceId) as TextRow | undefined;
      if (row === undefined) return [];
      return isCopy(sketch, { keys: JSON.parse(row.keys) as number[], values: asValues(row.sketch) })
        ? [knownText(row)]
        : [];
    });
  };
  const found = new Map<number, readonly KnownText[]>();
  return {
    find(workspaceId, sketch) {
      const known = scopedKeys(workspaceId, sketch.keys);
      if (!remembered.mayHold(known)) return noTexts;
      const [exact = 0] = known;
      let texts = found.get(exact);
      if (texts === undefined) {
        texts = read(workspaceId, sketch, known);
        if (found.size >= MAX_FOUND) found.clear();
        found.set(exact, texts);
      }
      return texts;
    },
    forget: () => found.clear(),
  };
}

function knownText({ id, senders, marked_spam, marked_ham }: TextRow): KnownText {
  return { id, senders: sendersOf(senders), markedSpam: marked_spam, markedHam: marked_ham };
}

/** A sketch's keys as they are stored: scoped by workspace, so that lookups find no other workspace's. */
function scopedKeys(workspaceId: string, keys: readonly number[]): number[] {
  if (workspaceId !== latest.workspaceId) latest = { workspaceId, scope: scopeOf(workspaceId) };
  const { scope } = latest;
  return keys.map((key) => key + scope);
}

/** The last workspace with its scope: posts that come together are mostly of one workspace. */
let latest = { workspaceId: "", scope: 0 };

function scopeOf(workspaceId: string): number {
  let scope = 0;
  for (let at = 0; at < workspaceId.length; at += 1)
    scope = (Math.imul(scope, 31) + workspaceId.charCodeAt(at)) >>> 0;
  return scope * 2 ** 20;
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
  /** The place of a post's text in the memory, or that it is new. */
  const readText = ({ workspaceId, recollection }: RecalledPost, sketch: TextSketch): WrittenText => {
    const keys = scopedKeys(workspaceId, sketch.keys);
    // An earlier batch may have brought the same text after this post was looked up.
    const id = recollection.textId ?? (selectExact.get(keys[0]) as number | undefined) ?? null;
    const senders = id === null ? undefined : (selectSenders.get(id) as string | undefined);
    const known = senders === undefined ? { id: null, senders: [] } : { id, senders: sendersOf(senders) };
    return { workspaceId, sketch, keys, ...known, isChanged: false };
  };
  const write = (text: WrittenText): void => {
    if (text.id !== null) {
      if (text.isChanged) updateSenders.run(sendersJson(text.senders), text.id);
      return;
    }
    const { workspaceId, sketch, keys, senders } = text;
    const bytes = Buffer.alloc(sketch.values.length * 4);
    sketch.values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
    const kept = insertText.run(workspaceId, JSON.stringify(sketch.keys), bytes, sendersJson(senders));
    const id = Number(kept.lastInsertRowid);
    for (const key of keys) insertKey.run(key, id);
    remembered.add(keys);
    if (id % FORGET_EVERY === 0) forgetOldest(workspaceId);
    text.id = id;
  };
  return (posts) => {
    const byKey = new Map<number, WrittenText>();
    const byId = new Map<number, WrittenText>();
    const texts = posts.map((post) => {
      const { trace, textId } = post.recollection;
      if (trace.sketch === null) return null;
      const exact = scopedKeys(post.workspaceId, trace.sketch.keys.slice(0, 1))[0] ?? 0;
      const known = byKey.get(exact) ?? (textId === null ? undefined : byId.get(textId));
      const text = known ?? readText(post, trace.sketch);
      byKey.set(exact, text);
      if (text.id !== null) byId.set(text.id, text);
      addSender(text, trace);
      return text;
    });
    for (const text of new Set(texts)) if (text !== null) write(text);
    return texts.map((text) => text?.id ?? null);
  };
}

/** A text that posts of one transaction are copies of. */
interface WrittenText {
  readonly workspaceId: string;
  readonly sketch: TextSketch;
  readonly keys: readonly number[];
  /** Null until a new one is written. */
  id: number | null;
  readonly senders: Sender[];
  isChanged: boolean;
}

function addSender(text: WrittenText, trace: PostTrace): void {
  if (text.senders.length >= MAX_SENDERS) return;
  const sender = senderOf(trace);
  if (text.senders.some((one) => isSame(one, sender))) return;
  text.senders.push(sender);
  text.isChanged = true;
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
