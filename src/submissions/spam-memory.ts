import type { Database } from "../database/database.ts";
import type { SpamPost } from "../spam/judge.ts";
import { LESSON_BUCKETS, shiftOf } from "../spam/lesson.ts";
import { countOthers, type PostTrace, type Sender, teachingOf, traceOf } from "../spam/post-trace.ts";
import type { SpamHistory } from "../spam/spam-history.ts";
import { isCopy, type TextSketch } from "../spam/text-sketch.ts";
import type { BurstMemory } from "./burst-memory.ts";

/** What a workspace knows that bears on a post, and what to remember of the post once it is stored. */
export interface Recollection {
  readonly history: SpamHistory;
  readonly trace: PostTrace;
  /** The remembered text that this post is a copy of; null where there is none. */
  readonly textId: number | null;
}

/** Texts without marks that a workspace remembers; the oldest are forgotten. */
const MAX_TEXTS = 10_000;
/** Texts are counted once in so many. */
const FORGET_EVERY = 64;
/** Senders remembered for one text: more say no more. */
const MAX_SENDERS = 8;
/** Remembered texts that a post is compared with. */
const MAX_CANDIDATES = 20;
/** Workspaces whose weights are kept in memory, at 32 KiB each. */
const MAX_WEIGHTS = 100;

export interface SpamMemory {
  /** Reads what bears on the post; remembers nothing but its place in a burst, if `bursts` was given. */
  recall(workspaceId: string, endpointId: string, post: SpamPost, now: number): Recollection;
  /** Call it in the transaction that stores the post. Returns the id of its text; null for a short one. */
  remember(workspaceId: string, recollection: Pick<Recollection, "trace" | "textId">): number | null;
}

interface TextRow {
  readonly id: bigint;
  readonly exact_key: bigint;
  readonly sketch: Buffer;
  readonly senders: string;
  readonly marked_spam: bigint;
  readonly marked_ham: bigint;
}

/** @param bursts null where nothing is posted, as in commands. */
export function createSpamMemory(db: Database, bursts: BurstMemory | null): SpamMemory {
  const selectTexts = db
    .prepare(
      `SELECT DISTINCT text.id, exact_key, sketch, senders, marked_spam, marked_ham
       FROM remembered_text_key AS k JOIN remembered_text AS text ON text.id = k.text_id
       WHERE k.workspace_id = ? AND k.key IN (?, ?, ?, ?, ?) ORDER BY text.id LIMIT ${MAX_CANDIDATES}`,
    )
    .safeIntegers();
  const selectTrust = db
    .prepare(
      `SELECT count(*) FILTER (WHERE mark = 'ham') > 0 AND count(*) FILTER (WHERE mark = 'spam') = 0
       FROM lesson WHERE workspace_id = ? AND email = ?`,
    )
    .pluck();
  const weightsOf = createWeightReader(db);
  const remember = createTextWriter(db);
  return {
    recall(workspaceId, endpointId, post, now) {
      const trace = traceOf(post);
      const { sketch, sender } = trace;
      const texts =
        sketch === null ? [] : copiesOf(sketch, selectTexts.all(workspaceId, ...fiveKeys(sketch)));
      const senders = texts.flatMap((text) => sendersOf(text.senders));
      const weights = weightsOf(workspaceId);
      const history: SpamHistory = {
        copies: {
          otherSenders: countOthers(sender, senders),
          markedSpam: texts.reduce((sum, text) => sum + Number(text.marked_spam), 0),
          markedHam: texts.reduce((sum, text) => sum + Number(text.marked_ham), 0),
        },
        trustedSender: sender.email !== null && selectTrust.get(workspaceId, sender.email) === 1,
        burst:
          bursts === null || sender.network === null
            ? { posts: 0, endpoints: 0 }
            : bursts.note(`${workspaceId} ${sender.network}`, endpointId, now),
        shift: weights === null ? 0 : shiftOf(weights, teachingOf(post).buckets),
      };
      const [first] = texts;
      return { history, trace, textId: first === undefined ? null : Number(first.id) };
    },
    remember,
  };
}

function copiesOf(sketch: TextSketch, rows: readonly unknown[]): TextRow[] {
  return (rows as readonly TextRow[]).filter((row) =>
    isCopy(sketch, { keys: [row.exact_key], values: asValues(row.sketch) }),
  );
}

/** A short text has one key; the statement takes five. */
function fiveKeys({ keys }: TextSketch): bigint[] {
  return Array.from({ length: 5 }, (_, index) => keys[index] ?? keys[0] ?? 0n);
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

function createTextWriter(db: Database): SpamMemory["remember"] {
  const insertText = db.prepare(
    "INSERT INTO remembered_text (workspace_id, exact_key, sketch, senders) VALUES (?, ?, ?, ?)",
  );
  const insertKey = db.prepare(
    "INSERT OR IGNORE INTO remembered_text_key (workspace_id, key, text_id) VALUES (?, ?, ?)",
  );
  const selectSenders = db.prepare("SELECT senders FROM remembered_text WHERE id = ?").pluck();
  const updateSenders = db.prepare("UPDATE remembered_text SET senders = ? WHERE id = ?");
  const forget = db.prepare(
    `DELETE FROM remembered_text WHERE workspace_id = @workspaceId AND marked_spam = 0 AND marked_ham = 0 AND id <= (
       SELECT id FROM remembered_text WHERE workspace_id = @workspaceId AND marked_spam = 0 AND marked_ham = 0
       ORDER BY id DESC LIMIT 1 OFFSET ${MAX_TEXTS})`,
  );
  return (workspaceId, { trace: { sketch, sender }, textId }) => {
    if (sketch === null) return null;
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
    const [exact] = sketch.keys;
    const id = Number(insertText.run(workspaceId, exact, bytes, sendersJson([sender])).lastInsertRowid);
    for (const key of sketch.keys) insertKey.run(workspaceId, key, id);
    if (id % FORGET_EVERY === 0) forget.run({ workspaceId });
    return id;
  };
}

function isSame(one: Sender, other: Sender): boolean {
  return one.email === other.email && one.network === other.network;
}

function sendersJson(senders: readonly Sender[]): string {
  return JSON.stringify(senders.map(({ email, network }) => [email, network]));
}

/** The weights that a workspace's marks taught, read again when a mark changed them; null before any mark. */
function createWeightReader(db: Database): (workspaceId: string) => Float32Array | null {
  const selectVersion = db.prepare("SELECT version FROM learned_weights WHERE workspace_id = ?").pluck();
  const selectWeights = db.prepare("SELECT weights FROM learned_weights WHERE workspace_id = ?").pluck();
  const known = new Map<string, { version: unknown; weights: Float32Array }>();
  return (workspaceId) => {
    const version = selectVersion.get(workspaceId);
    if (version === undefined) return null;
    const entry = known.get(workspaceId);
    if (entry?.version === version) return entry.weights;
    const weights = floatsOf(selectWeights.get(workspaceId) as Buffer);
    if (known.size >= MAX_WEIGHTS) known.clear();
    known.set(workspaceId, { version, weights });
    return weights;
  };
}

function floatsOf(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: LESSON_BUCKETS }, (_, index) => bytes.readFloatLE(index * 4));
}
