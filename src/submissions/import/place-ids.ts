import { createHash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { yieldToOthers } from "../../database/slices.ts";
import { LISTED_IDS, listParameter } from "../../database/list-parameter.ts";
import { all, type Steps, text } from "../../database/steps.ts";
import { isFileList } from "../../foundation/file-list.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { idWithTimeOf } from "../../foundation/id.ts";

/*
 * An id is there once on a server. If another workspace has the id that an export names, whether by chance or because somebody brought a
 * copy of the export first, the import gives another id, so that nobody can keep a post from its owner. It follows from the workspace and
 * the id that the export names, so that the next import of the same export finds it.
 */

/** What an export names, and the workspace that it goes to. */
interface Named {
  readonly id: string;
  readonly workspaceId: string;
}

/** The largest number of ids that are tried instead of one. Whoever wants to keep a post out has to bring a post for each. */
const MAX_INSTEAD = 8;
/** Ids that are looked up in one piece of work; posts wait for it. */
const PIECE = 500;

/** The id that a workspace gives something instead of the id that an export names. @param round from 1; a higher one if that is taken too */
function idInstead({ id, workspaceId }: Named, round: number): string {
  return idWithTimeOf(
    id,
    createHash("sha256")
      .update(JSON.stringify([workspaceId, id, round]))
      .digest(),
  );
}

/** Whether an import may have given this id to something that an export names. */
export function mayBe(id: string, named: Named): boolean {
  if (id === named.id) return true;
  for (let round = 1; round <= MAX_INSTEAD; round += 1) if (idInstead(named, round) === id) return true;
  return false;
}

/**
 * Returns the id of each of these: the one that an earlier import gave, or the named one unless another workspace has it, or else another.
 * Meanwhile others may take it: {@link checkPlaced} finds that out. @throws conflict if others have all that would be tried
 */
export async function placeIds(
  db: Database,
  table: keyof typeof OWNER_SQL,
  named: readonly Named[],
): Promise<readonly string[]> {
  const placed: string[] = [];
  for (let at = 0; at < named.length; at += PIECE) {
    if (at > 0) await yieldToOthers();
    const piece = named.slice(at, at + PIECE);
    for (const [index, id] of (await db.read(() => placeFirst(table, piece))).entries()) {
      const each = piece[index] as Named;
      placed.push(id ?? (await placeLater(db, table, each)));
    }
  }
  return placed;
}

/** @returns null for an id that is taken by others, as is the first one that would be given instead */
function* placeFirst(
  table: keyof typeof OWNER_SQL,
  named: readonly Named[],
): Steps<readonly (string | null)[]> {
  const tried = named.map((each) => [each.id, idInstead(each, 1)] as const);
  const taken = yield* ownersOf(table, [...new Set(tried.flat())]);
  return named.map(({ workspaceId }, index) => {
    const [own = "", instead = ""] = tried[index] ?? [];
    for (const id of [own, instead]) if (taken.get(id) === workspaceId) return id;
    for (const id of [own, instead]) if (!taken.has(id)) return id;
    return null;
  });
}

async function placeLater(db: Database, table: keyof typeof OWNER_SQL, named: Named): Promise<string> {
  await yieldToOthers();
  const ids = Array.from({ length: MAX_INSTEAD - 1 }, (_, index) => idInstead(named, index + 2));
  const taken = await db.read(() => ownersOf(table, ids));
  const ours = ids.find((id) => taken.get(id) === named.workspaceId);
  const free = ours ?? ids.find((id) => !taken.has(id));
  if (free !== undefined) return free;
  throw new FormsvcError(
    "conflict",
    `other workspaces have ${named.id} and each id that would be given instead; give it another id in the file`,
  );
}

/** Call inside the transaction that stores, with what was there already. @throws conflict if another workspace took an id meanwhile */
export function* checkPlaced(table: keyof typeof OWNER_SQL, placed: readonly Named[]): Steps<void> {
  if (placed.length === 0) return;
  const ids = placed.map(({ id }) => id);
  const taken = yield* ownersOf(table, ids);
  const lost = placed.find(({ id, workspaceId }) => taken.has(id) && taken.get(id) !== workspaceId);
  if (lost === undefined) return;
  throw new FormsvcError(
    "conflict",
    `somebody else is importing ${lost.id} at this moment; run the import again`,
  );
}

/** Which table has the ids, and the endpoint or the workspace of each. */
const OWNER_SQL = {
  submission: `SELECT submission.id, endpoint.workspace_id FROM submission
    LEFT JOIN endpoint_number ON endpoint_number.number = submission.endpoint_number
    LEFT JOIN endpoint ON endpoint.id = endpoint_number.endpoint_id WHERE submission.id IN ${LISTED_IDS}`,
  held: `SELECT held.id, held.workspace_id FROM held WHERE held.id IN ${LISTED_IDS}`,
  file: `SELECT file.id, endpoint.workspace_id FROM file
    LEFT JOIN endpoint ON endpoint.id = file.endpoint_id WHERE file.id IN ${LISTED_IDS}`,
} as const;

/** The workspace of each of these ids that is taken; null if its form is deleted already. */
function* ownersOf(
  table: keyof typeof OWNER_SQL,
  ids: readonly string[],
): Steps<ReadonlyMap<string, string | null>> {
  const rows = yield* all(
    text<{ id: string; workspace_id: string | null }>(OWNER_SQL[table], listParameter(ids)),
  );
  return new Map(rows.map(({ id, workspace_id: workspaceId }) => [id, workspaceId]));
}

type Data = Readonly<Record<string, unknown>>;

/** Data that goes to a workspace. */
interface Going {
  readonly data: Data;
  readonly workspaceId: string;
}

/** Returns each data with ids of its files that are free for its workspace; the same object if they all are. */
export async function placeFiles(db: Database, going: readonly Going[]): Promise<readonly Data[]> {
  const named = going.flatMap(({ data, workspaceId }) =>
    filesIn(data).map(({ id }) => ({ id, workspaceId })),
  );
  if (named.length === 0) return going.map(({ data }) => data);
  const placed = await placeIds(db, "file", named);
  let next = 0;
  return going.map(({ data }) => {
    const count = filesIn(data).length;
    const [ids, from] = [placed.slice(next, next + count), next];
    next += count;
    return ids.every((id, index) => id === named[from + index]?.id) ? data : withIds(data, ids);
  });
}

function filesIn(data: Data): readonly { readonly id: string }[] {
  return Object.values(data).flatMap((value) => (isFileList(value) ? value : []));
}

/** @param ids those of all files of the data, in their order */
function withIds(data: Data, ids: readonly string[]): Data {
  let next = 0;
  const changed = Object.entries(data).map(([name, value]) => {
    if (!isFileList(value)) return [name, value] as const;
    return [name, value.map((file) => ({ ...file, id: ids[next++] }))] as const;
  });
  return Object.fromEntries(changed);
}
