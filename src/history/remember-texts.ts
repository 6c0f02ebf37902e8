import { all, first, run, type Steps, text } from "../database/steps.ts";
import type { SpamHistory } from "../spam/spam-history.ts";
import { type PostTrace, type Sender, senderOf } from "../spam/post-trace.ts";
import type { SpamClass } from "../spam/spam-verdict.ts";
import type { TextSketch } from "../spam/text-sketch.ts";
import type { RememberedKeys } from "./remembered-keys.ts";
import { asText, isGenuineTarget, NOBODY, scopedKeys, sendersJson, sendersOf } from "./text-rows.ts";

/** What a workspace knows about a post, and what is to be remembered of it when it is stored. */
export interface Recollection {
  readonly history: SpamHistory;
  readonly trace: PostTrace;
  /** The id of the remembered text that this post is a copy of; null if there is none. */
  readonly textId: number | null;
  /** Whether the post leads to a target that only suspicious posts led to before. */
  readonly hasKnownTarget: boolean;
}

/** A recalled post that is being stored. */
export interface RecalledPost {
  readonly workspaceId: string;
  readonly recollection: Recollection;
  /** Whether the post counts against the targets that it leads to. If not, it counts for them. */
  readonly isSuspicious: boolean;
}

/**
 * What to remember of a post; null if nothing. A text with a low score is never part of a campaign, so most posts write nothing to the
 * memory. But such a post counts for targets that suspicious posts led to.
 */
export function toRemember(
  workspaceId: string,
  recollection: Recollection,
  spamClass: SpamClass,
): RecalledPost | null {
  const isSuspicious = spamClass === "high" || spamClass === "blocked";
  if (spamClass !== "low") return { workspaceId, recollection, isSuspicious };
  if (!recollection.hasKnownTarget) return null;
  const trace = { ...recollection.trace, sketch: null };
  return { workspaceId, recollection: { ...recollection, trace }, isSuspicious };
}

/** The largest number of texts and targets without marks that a workspace remembers. The oldest are forgotten first. */
const MAX_TEXTS = 10_000;
/** Each time this number of texts was added, the oldest texts beyond the limit are forgotten, up to four times this number at once. */
const FORGET_EVERY = 64;
/** The largest number of senders that are remembered for one text; more would not change the result. */
const MAX_SENDERS = 8;

const WRITE_SQL = {
  insertText:
    "INSERT INTO remembered_text (workspace_id, keys, sketch, senders) VALUES (?, ?, ?, ?) RETURNING id",
  insertKey: "INSERT INTO remembered_text_key (key, text_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
  selectSenders: "SELECT senders FROM remembered_text WHERE id = ?",
  updateSenders: "UPDATE remembered_text SET senders = ? WHERE id = ?",
  selectExact: "SELECT text_id FROM remembered_text_key WHERE key = ? LIMIT 1",
} as const;

/**
 * Remembers the texts and targets of posts, in the transaction that stores the posts. Returns the ids of the texts, null for a text that is
 * too short.
 */
export function* rememberTexts(
  posts: readonly RecalledPost[],
  remembered: RememberedKeys,
): Steps<(number | null)[]> {
  const known = { byKey: new Map<number, WrittenText>(), byId: new Map<number, WrittenText>() };
  const texts: (WrittenText | null)[] = [];
  for (const post of posts) {
    texts.push(yield* addText(known, post));
    yield* addTargets(known, post);
  }
  for (const written of new Set(known.byKey.values())) yield* writeText(written, remembered);
  return texts.map((written) => written?.id ?? null);
}

/** A text that posts of one transaction are copies of, or a target that they lead to. */
interface WrittenText {
  readonly workspaceId: string;
  readonly sketch: TextSketch;
  readonly keys: readonly number[];
  /** The id of the row; null until a new one is written. */
  id: number | null;
  senders: Sender[];
  isChanged: boolean;
}

/** The texts of one transaction, which are written once at its end. */
interface WrittenTexts {
  readonly byKey: Map<number, WrittenText>;
  readonly byId: Map<number, WrittenText>;
}

function* addText(
  known: WrittenTexts,
  { workspaceId, recollection }: RecalledPost,
): Steps<WrittenText | null> {
  const { trace, textId } = recollection;
  if (trace.sketch === null) return null;
  const written = yield* findText(known, workspaceId, trace.sketch, textId);
  addSender(written, senderOf(trace));
  return written;
}

/**
 * Adds the sender of a suspicious post to its targets. A post that is not suspicious makes its targets genuine, for as long as they are
 * remembered.
 */
function* addTargets(
  known: WrittenTexts,
  { workspaceId, recollection, isSuspicious }: RecalledPost,
): Steps<void> {
  if (!isSuspicious && !recollection.hasKnownTarget) return;
  const sender = senderOf(recollection.trace);
  for (const key of recollection.trace.targets) {
    const target = yield* findText(known, workspaceId, asText(key), null);
    if (!isSuspicious && target.senders.length > 0) setGenuine(target);
    if (isSuspicious && !isGenuineTarget(target.senders) && !isSame(sender, NOBODY))
      addSender(target, sender);
  }
}

function* findText(
  { byKey, byId }: WrittenTexts,
  workspaceId: string,
  sketch: TextSketch,
  textId: number | null,
): Steps<WrittenText> {
  const keys = scopedKeys(workspaceId, sketch.keys);
  const [exact = 0] = keys;
  const known = byKey.get(exact) ?? (textId === null ? undefined : byId.get(textId));
  const written = known ?? (yield* readText({ workspaceId, sketch, keys }, textId));
  byKey.set(exact, written);
  if (written.id !== null) byId.set(written.id, written);
  return written;
}

/** Reads the row of a text; if there is none, the text is new. */
function* readText(
  unread: Pick<WrittenText, "workspaceId" | "sketch" | "keys">,
  textId: number | null,
): Steps<WrittenText> {
  // An earlier batch may have written the same text after this post was looked up.
  const id =
    textId ??
    (yield* first(text<{ text_id: number }>(WRITE_SQL.selectExact, unread.keys[0])))?.text_id ??
    null;
  const row = id === null ? undefined : yield* first(text<{ senders: string }>(WRITE_SQL.selectSenders, id));
  const known = row === undefined ? { id: null, senders: [] } : { id, senders: sendersOf(row.senders) };
  return { ...unread, ...known, isChanged: false };
}

function* writeText(written: WrittenText, remembered: RememberedKeys): Steps<void> {
  const { workspaceId, sketch, keys, senders } = written;
  if (!written.isChanged) return;
  if (written.id !== null) {
    yield* run(text(WRITE_SQL.updateSenders, sendersJson(senders), written.id));
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

function addSender(written: WrittenText, sender: Sender): void {
  if (written.senders.length >= MAX_SENDERS || written.senders.some((one) => isSame(one, sender))) return;
  written.senders.push(sender);
  written.isChanged = true;
}

function setGenuine(target: WrittenText): void {
  if (isGenuineTarget(target.senders)) return;
  target.senders = [NOBODY];
  target.isChanged = true;
}

function isSame(one: Sender, other: Sender): boolean {
  return one.email === other.email && one.network === other.network;
}

const UNMARKED_SQL = "FROM remembered_text WHERE workspace_id = ? AND marked_spam = 0 AND marked_ham = 0";
const FORGET_SQL = {
  bound: `SELECT id ${UNMARKED_SQL} ORDER BY id DESC LIMIT 1 OFFSET ${MAX_TEXTS}`,
  oldest: `SELECT id, keys ${UNMARKED_SQL} AND id <= ? ORDER BY id LIMIT ${4 * FORGET_EVERY}`,
  any: "SELECT id, keys FROM remembered_text WHERE workspace_id = ? ORDER BY id LIMIT ?",
  deleteText: "DELETE FROM remembered_text WHERE id = ?",
  deleteKey: "DELETE FROM remembered_text_key WHERE key = ? AND text_id = ?",
} as const;

function* forgetOldest(workspaceId: string): Steps<void> {
  const bound = yield* first(text<{ id: number }>(FORGET_SQL.bound, workspaceId));
  if (bound === undefined) return;
  yield* forget(workspaceId, yield* all(text<RememberedRow>(FORGET_SQL.oldest, workspaceId, bound.id)));
}

interface RememberedRow {
  readonly id: number;
  readonly keys: string;
}

function* forget(workspaceId: string, rows: readonly RememberedRow[]): Steps<void> {
  for (const { id, keys } of rows) {
    for (const key of scopedKeys(workspaceId, JSON.parse(keys) as number[]))
      yield* run(text(FORGET_SQL.deleteKey, key, id));
    yield* run(text(FORGET_SQL.deleteText, id));
  }
}

/** The largest number of texts that one transaction forgets; each has about ten rows. */
const FORGOTTEN_AT_ONCE = 50;

/** Forgets some texts of a workspace, marked ones too. Returns the number forgotten; 0 if none is left. */
export function* forgetTextsOf(workspaceId: string, limit: number): Steps<number> {
  const some = Math.min(limit, FORGOTTEN_AT_ONCE);
  const rows = yield* all(text<RememberedRow>(FORGET_SQL.any, workspaceId, some));
  yield* forget(workspaceId, rows);
  return rows.length;
}
