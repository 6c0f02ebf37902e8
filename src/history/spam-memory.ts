import type { Head } from "../database/database.ts";
import { all, first, run, type Steps, text } from "../database/steps.ts";
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
  recall(workspaceId: string, endpointId: string, post: SpamPost, now: number): Steps<Recollection>;
  /**
   * Call it in the transaction that stores the posts, with all of them: copies of one text are then read and written once.
   * Returns the ids of their texts, null for a short one.
   */
  remember(posts: readonly RecalledPost[]): Steps<(number | null)[]>;
  /** Another process may have marked or remembered something: reads it again from now on. */
  forget(): void;
  /** Another server may have remembered something, before or after what is known here. */
  catchUp(): void;
}

/** Texts that are read again, because a server may commit one with a lower id than another server's. A miss costs one copy. */
const OVERLAP = 1000;

/** Changes when a server remembers a text. */
export function memoryHead(memory: Pick<SpamMemory, "catchUp">): Head {
  return { sql: "SELECT max(id) FROM remembered_text", onChange: () => memory.catchUp() };
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
export function createSpamMemory(bursts: BurstMemory | null): SpamMemory {
  const weights = createWeightReader();
  const remembered = createRememberedKeys((workspaceId, keys) =>
    scopedKeys(workspaceId, JSON.parse(keys) as number[]),
  );
  const findCopies = createCopyFinder(remembered);
  return {
    *recall(workspaceId, endpointId, post, now) {
      const trace = traceOf(post);
      const { sketch, email, network } = trace;
      const texts = sketch === null ? noTexts : yield* findCopies.find(workspaceId, sketch);
      const taught = yield* weights.read(workspaceId);
      const history: SpamHistory = {
        copies: texts.length === 0 ? noHistory.copies : copiesAmong(texts, senderOf(trace)),
        trustedSender: taught !== null && email !== null && (yield* isTrusted(workspaceId, emailHash(email))),
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
      return rememberTexts(posts, remembered);
    },
    forget() {
      findCopies.forget();
      weights.forget();
      remembered.catchUp();
    },
    catchUp() {
      findCopies.forget();
      remembered.catchUp(OVERLAP);
    },
  };
}

/** Tells of texts that other servers remembered, which no commit of this process shows. */
export function textsHead(memory: Pick<SpamMemory, "forget">): Head {
  return { sql: "SELECT max(id) FROM remembered_text", onChange: () => memory.forget() };
}

const TRUST_SQL = `SELECT count(*) FILTER (WHERE mark = 'ham') AS ham, count(*) FILTER (WHERE mark = 'spam') AS spam
  FROM lesson WHERE workspace_id = ? AND email = ?`;

/** Whether the sender's posts were marked genuine, and none spam. */
function* isTrusted(workspaceId: string, email: string): Steps<boolean> {
  const marks = yield* first(text<{ ham: number; spam: number }>(TRUST_SQL, workspaceId, email));
  return marks !== undefined && marks.ham > 0 && marks.spam === 0;
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
  find(workspaceId: string, sketch: TextSketch): Steps<readonly KnownText[]>;
  forget(): void;
}

/** Texts whose copies are known without asking the database: those of the posts that wait for the disk together. */
const MAX_FOUND = 256;

/** Nearly every post is new, so only the keys are looked up first: in memory, then in the database. */
function createCopyFinder(remembered: RememberedKeys): CopyFinder {
  const found = new Map<number, readonly KnownText[]>();
  return {
    *find(workspaceId, sketch) {
      const known = scopedKeys(workspaceId, sketch.keys);
      if (!(yield* remembered.mayHold(known))) return noTexts;
      const [exact = 0] = known;
      let texts = found.get(exact);
      if (texts === undefined) {
        texts = yield* readCopies(workspaceId, sketch, known);
        if (found.size >= MAX_FOUND) found.clear();
        found.set(exact, texts);
      }
      return texts;
    },
    forget: () => found.clear(),
  };
}

const IDS_SQL = `SELECT text_id FROM remembered_text_key WHERE key IN (?, ?, ?, ?, ?) LIMIT ${MAX_KEYS * MAX_CANDIDATES}`;
const TEXT_SQL = "SELECT * FROM remembered_text WHERE id = ? AND workspace_id = ?";

function* readCopies(
  workspaceId: string,
  sketch: TextSketch,
  known: readonly number[],
): Steps<readonly KnownText[]> {
  const keys = Array.from({ length: MAX_KEYS }, (_, index) => known[index] ?? known[0]);
  const rows = yield* all(text<{ text_id: number }>(IDS_SQL, ...keys));
  const ids = new Set(rows.map(({ text_id: id }) => id));
  const texts: KnownText[] = [];
  for (const id of [...ids].slice(0, MAX_CANDIDATES)) {
    const row = yield* first(text<TextRow>(TEXT_SQL, id, workspaceId));
    if (row === undefined) continue;
    const other = { keys: JSON.parse(row.keys) as number[], values: asValues(row.sketch) };
    if (isCopy(sketch, other)) texts.push(knownText(row));
  }
  return texts;
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

const WRITE_SQL = {
  insertText:
    "INSERT INTO remembered_text (workspace_id, keys, sketch, senders) VALUES (?, ?, ?, ?) RETURNING id",
  insertKey: "INSERT INTO remembered_text_key (key, text_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
  selectSenders: "SELECT senders FROM remembered_text WHERE id = ?",
  updateSenders: "UPDATE remembered_text SET senders = ? WHERE id = ?",
  selectExact: "SELECT text_id FROM remembered_text_key WHERE key = ? LIMIT 1",
} as const;

function* rememberTexts(
  posts: readonly RecalledPost[],
  remembered: RememberedKeys,
): Steps<(number | null)[]> {
  const byKey = new Map<number, WrittenText>();
  const byId = new Map<number, WrittenText>();
  const texts: (WrittenText | null)[] = [];
  for (const post of posts) {
    const { trace, textId } = post.recollection;
    if (trace.sketch === null) {
      texts.push(null);
      continue;
    }
    const exact = scopedKeys(post.workspaceId, trace.sketch.keys.slice(0, 1))[0] ?? 0;
    const known = byKey.get(exact) ?? (textId === null ? undefined : byId.get(textId));
    const written = known ?? (yield* readText(post, trace.sketch));
    byKey.set(exact, written);
    if (written.id !== null) byId.set(written.id, written);
    addSender(written, trace);
    texts.push(written);
  }
  for (const written of new Set(texts)) if (written !== null) yield* writeText(written, remembered);
  return texts.map((written) => written?.id ?? null);
}

/** The place of a post's text in the memory, or that it is new. */
function* readText({ workspaceId, recollection }: RecalledPost, sketch: TextSketch): Steps<WrittenText> {
  const keys = scopedKeys(workspaceId, sketch.keys);
  // An earlier batch may have brought the same text after this post was looked up.
  const id =
    recollection.textId ??
    (yield* first(text<{ text_id: number }>(WRITE_SQL.selectExact, keys[0])))?.text_id ??
    null;
  const row = id === null ? undefined : yield* first(text<{ senders: string }>(WRITE_SQL.selectSenders, id));
  const known = row === undefined ? { id: null, senders: [] } : { id, senders: sendersOf(row.senders) };
  return { workspaceId, sketch, keys, ...known, isChanged: false };
}

function* writeText(written: WrittenText, remembered: RememberedKeys): Steps<void> {
  const { workspaceId, sketch, keys, senders } = written;
  if (written.id !== null) {
    if (written.isChanged) yield* run(text(WRITE_SQL.updateSenders, sendersJson(senders), written.id));
    return;
  }
  const bytes = Buffer.alloc(sketch.values.length * 4);
  sketch.values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
  const values = [workspaceId, JSON.stringify(sketch.keys), bytes, sendersJson(senders)];
  const { id = 0 } = (yield* first(text<{ id: number }>(WRITE_SQL.insertText, ...values))) ?? {};
  for (const key of keys) yield* run(text(WRITE_SQL.insertKey, key, id));
  remembered.add(keys);
  if (id % FORGET_EVERY === 0) yield* forgetOldest(workspaceId);
  written.id = id;
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

const UNMARKED_SQL = "FROM remembered_text WHERE workspace_id = ? AND marked_spam = 0 AND marked_ham = 0";
const FORGET_SQL = {
  bound: `SELECT id ${UNMARKED_SQL} ORDER BY id DESC LIMIT 1 OFFSET ${MAX_TEXTS}`,
  oldest: `SELECT id, keys ${UNMARKED_SQL} AND id <= ? ORDER BY id LIMIT ${4 * FORGET_EVERY}`,
  deleteText: "DELETE FROM remembered_text WHERE id = ?",
  deleteKey: "DELETE FROM remembered_text_key WHERE key = ? AND text_id = ?",
} as const;

function* forgetOldest(workspaceId: string): Steps<void> {
  const bound = yield* first(text<{ id: number }>(FORGET_SQL.bound, workspaceId));
  if (bound === undefined) return;
  const oldest = text<{ id: number; keys: string }>(FORGET_SQL.oldest, workspaceId, bound.id);
  for (const { id, keys } of yield* all(oldest)) {
    for (const key of scopedKeys(workspaceId, JSON.parse(keys) as number[]))
      yield* run(text(FORGET_SQL.deleteKey, key, id));
    yield* run(text(FORGET_SQL.deleteText, id));
  }
}

function isSame(one: Sender, other: Sender): boolean {
  return one.email === other.email && one.network === other.network;
}

function sendersJson(senders: readonly Sender[]): string {
  return JSON.stringify(senders.map(({ email, network }) => [email, network]));
}

/** The weights that a workspace's marks taught, null before any mark; read once until they are forgotten. */
function createWeightReader(): {
  read(workspaceId: string): Steps<Float32Array | null>;
  forget(): void;
} {
  const known = new Map<string, { version: unknown; weights: Float32Array | null; isFresh: boolean }>();
  return {
    *read(workspaceId) {
      const entry = known.get(workspaceId);
      if (entry?.isFresh === true) return entry.weights;
      const version = (yield* first(text<{ version: number }>(VERSION_SQL, workspaceId)))?.version;
      const row =
        version === undefined || version === entry?.version
          ? undefined
          : yield* first(text<{ weights: Buffer }>(WEIGHTS_SQL, workspaceId));
      const weights = row === undefined ? (entry?.weights ?? null) : floatsOf(row.weights);
      if (known.size >= MAX_WEIGHTS && entry === undefined) known.clear();
      known.set(workspaceId, { version, weights, isFresh: true });
      return weights;
    },
    forget() {
      for (const entry of known.values()) entry.isFresh = false;
    },
  };
}

const WEIGHTS_SQL = "SELECT weights FROM learned_weights WHERE workspace_id = ?";
const VERSION_SQL = "SELECT version FROM learned_weights WHERE workspace_id = ?";

function floatsOf(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: LESSON_BUCKETS }, (_, index) => bytes.readFloatLE(index * 4));
}
