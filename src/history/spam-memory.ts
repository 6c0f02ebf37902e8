import { BoundedMap } from "../foundation/bounded-map.ts";
import type { Head } from "../database/database.ts";
import { all, first, type Steps, text } from "../database/steps.ts";
import type { SpamPost } from "../spam/spam-post.ts";
import { LESSON_BUCKETS, shiftOf } from "../spam/lesson.ts";
import { countOthers, emailHash, type Sender, senderOf, teachingOf, traceOf } from "../spam/post-trace.ts";
import { noHistory, type SpamHistory } from "../spam/spam-history.ts";
import { type Likeness, likenessOf, type TextSketch } from "../spam/text-sketch.ts";
import type { BurstMemory } from "./burst-memory.ts";
import { createRememberedKeys, type RememberedKeys } from "./remembered-keys.ts";
import { type RecalledPost, type Recollection, rememberTexts } from "./remember-texts.ts";
import { asText, isGenuineTarget, scopedKeys, sendersOf } from "./text-rows.ts";

/** The largest number of remembered texts that a post is compared with. */
const MAX_CANDIDATES = 8;
/** The largest number of workspaces whose weights are kept in memory, at 32 KiB each. */
const MAX_WEIGHTS = 100;
/** The number of keys in a query. A sketch has up to this many; the only key of a short text is repeated. */
const MAX_KEYS = 5;

export interface SpamMemory {
  /** Reads what is known about the post. It stores nothing, except in the memory of bursts, if there is one. */
  recall(workspaceId: string, endpointId: string, post: SpamPost, now: number): Steps<Recollection>;
  /**
   * Remembers posts. Call it in the transaction that stores them, with all of them, so that the copies of one text are read and written
   * once. Returns the ids of their texts, null for a text that is too short.
   */
  remember(posts: readonly RecalledPost[]): Steps<(number | null)[]>;
  /** Call when another process may have marked or remembered something: it is read again from now on. */
  forget(): void;
  /** Call when another server may have remembered something, even with lower ids than those that are known here. */
  catchUp(): void;
}

/**
 * The number of texts that are read again, because a server may commit a text with a lower id than another server's. If one is missed, a
 * copy is not recognised.
 */
const OVERLAP = 1000;

/** The value of this query changes when any server remembers a text. */
export function memoryHead(memory: Pick<SpamMemory, "catchUp">): Head {
  return { sql: "SELECT max(id) FROM remembered_text", onChange: () => memory.catchUp() };
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
      const copies = texts.filter(({ likeness }) => likeness === "copy");
      const targets =
        trace.targets.length === 0 ? noTexts : yield* findTargets(findCopies, workspaceId, trace.targets);
      const taught = yield* weights.read(workspaceId);
      const history: SpamHistory = {
        copies: copies.length === 0 ? noHistory.copies : copiesAmong(copies, senderOf(trace)),
        variantSenders: texts.length === 0 ? 0 : othersAmong(texts, senderOf(trace)),
        targetSenders: targets.length === 0 ? 0 : mostOthers(targets, senderOf(trace)),
        trustedSender: taught !== null && email !== null && (yield* isTrusted(workspaceId, emailHash(email))),
        burst:
          bursts === null || network === null
            ? noHistory.burst
            : bursts.note(`${workspaceId} ${network}`, endpointId, now),
        shift: taught === null ? 0 : shiftOf(taught, teachingOf(post).buckets),
      };
      return { history, trace, textId: copies[0]?.id ?? null, hasKnownTarget: targets.length > 0 };
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

const TRUST_SQL = `SELECT count(*) FILTER (WHERE mark = 'ham') AS ham, count(*) FILTER (WHERE mark = 'spam') AS spam
  FROM lesson WHERE workspace_id = ? AND email = ?`;

/** Whether posts of the sender were marked genuine, and none as spam. */
function* isTrusted(workspaceId: string, email: string): Steps<boolean> {
  const marks = yield* first(text<{ ham: number; spam: number }>(TRUST_SQL, workspaceId, email));
  return marks !== undefined && marks.ham > 0 && marks.spam === 0;
}

/** A remembered text that a post is a copy or a variant of. */
interface KnownText {
  readonly id: number;
  readonly likeness: NonNullable<Likeness>;
  readonly senders: readonly Sender[];
  readonly markedSpam: number;
  readonly markedHam: number;
}

const noTexts: readonly KnownText[] = [];

/** The remembered targets that a post leads to, without those that a genuine post led to. */
function* findTargets(
  findCopies: CopyFinder,
  workspaceId: string,
  targetKeys: readonly number[],
): Steps<readonly KnownText[]> {
  const found: KnownText[] = [];
  for (const key of targetKeys) found.push(...(yield* findCopies.find(workspaceId, asText(key))));
  return found.filter(({ senders }) => !isGenuineTarget(senders));
}

/** The largest number of other senders that led to one of these targets. */
function mostOthers(targets: readonly KnownText[], sender: Sender): number {
  return targets.reduce((most, { senders }) => Math.max(most, countOthers(sender, senders)), 0);
}

function copiesAmong(texts: readonly KnownText[], sender: Sender): SpamHistory["copies"] {
  return {
    otherSenders: othersAmong(texts, sender),
    markedSpam: texts.reduce((sum, { markedSpam }) => sum + markedSpam, 0),
    markedHam: texts.reduce((sum, { markedHam }) => sum + markedHam, 0),
  };
}

function othersAmong(texts: readonly KnownText[], sender: Sender): number {
  return countOthers(
    sender,
    texts.flatMap(({ senders }) => senders),
  );
}

/** Finds the remembered texts that a text is a copy or a variant of. The result is kept in memory until something may have changed it. */
interface CopyFinder {
  find(workspaceId: string, sketch: TextSketch): Steps<readonly KnownText[]>;
  forget(): void;
}

/** The largest number of texts whose copies are kept in memory: the texts of posts that wait for the disk together. */
const MAX_FOUND = 256;

/** Nearly every post is new, so its keys are looked up first: in memory, and only then in the database. */
function createCopyFinder(remembered: RememberedKeys): CopyFinder {
  let found = new BoundedMap<number, readonly KnownText[]>(MAX_FOUND);
  return {
    *find(workspaceId, sketch) {
      const known = scopedKeys(workspaceId, sketch.keys);
      if (!(yield* remembered.mayHold(known))) return noTexts;
      const [exact = 0] = known;
      const kept = found;
      let texts = kept.get(exact);
      if (texts === undefined) {
        texts = yield* readCopies(workspaceId, sketch, known);
        kept.set(exact, texts);
      }
      return texts;
    },
    // A new map, because a read that is under way is out of date; it writes into the old map.
    forget: () => {
      found = new BoundedMap(MAX_FOUND);
    },
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
    const likeness = likenessOf(sketch, other);
    if (likeness !== null) texts.push(knownText(row, likeness));
  }
  return texts;
}

function knownText(
  { id, senders, marked_spam, marked_ham }: TextRow,
  likeness: KnownText["likeness"],
): KnownText {
  return { id, likeness, senders: sendersOf(senders), markedSpam: marked_spam, markedHam: marked_ham };
}

function asValues(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
}

interface KnownWeights {
  readonly version: unknown;
  readonly weights: Float32Array | null;
  readonly asOf: number;
}

/** Reads the weights that a workspace's marks taught; null before the first mark. They are read once, and again after `forget`. */
function createWeightReader(): {
  read(workspaceId: string): Steps<Float32Array | null>;
  forget(): void;
} {
  const known = new BoundedMap<string, KnownWeights>(MAX_WEIGHTS);
  let forgotten = 0;
  return {
    *read(workspaceId) {
      const asOf = forgotten;
      const entry = known.get(workspaceId);
      if (entry?.asOf === asOf) return entry.weights;
      const version = (yield* first(text<{ version: number }>(VERSION_SQL, workspaceId)))?.version;
      const row =
        version === undefined || version === entry?.version
          ? undefined
          : yield* first(text<{ weights: Buffer }>(WEIGHTS_SQL, workspaceId));
      const weights = row === undefined ? (entry?.weights ?? null) : floatsOf(row.weights);
      known.set(workspaceId, { version, weights, asOf });
      return weights;
    },
    // A read that is under way becomes out of date too.
    forget() {
      forgotten += 1;
    },
  };
}

const WEIGHTS_SQL = "SELECT weights FROM learned_weights WHERE workspace_id = ?";
const VERSION_SQL = "SELECT version FROM learned_weights WHERE workspace_id = ?";

function floatsOf(bytes: Buffer): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const floats = new Float32Array(LESSON_BUCKETS);
  for (let index = 0; index < LESSON_BUCKETS; index += 1) floats[index] = view.getFloat32(index * 4, true);
  return floats;
}
