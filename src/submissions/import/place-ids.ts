import { createHash } from "node:crypto";
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

/** The workspace of each of these ids that is taken; null if its form is deleted already. */
type Owners = (ids: readonly string[]) => Steps<ReadonlyMap<string, string | null>>;

/** The largest number of ids that are tried instead of one. Whoever wants to keep a post out has to bring a post for each. */
const MAX_INSTEAD = 32;

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
 * @throws conflict if others have all that would be tried
 */
export function* placeIds(owners: Owners, named: readonly Named[]): Steps<readonly string[]> {
  const placed: string[] = [];
  const first = named.map((each) => [each.id, idInstead(each, 1)] as const);
  const taken = yield* owners([...new Set(first.flat())]);
  for (const [index, [own, instead]] of first.entries()) {
    const each = named[index] as Named;
    const isOurs = (id: string): boolean => taken.get(id) === each.workspaceId;
    if (isOurs(own)) placed.push(own);
    else if (isOurs(instead)) placed.push(instead);
    else if (!taken.has(own)) placed.push(own);
    else if (!taken.has(instead)) placed.push(instead);
    else placed.push(yield* placeLater(owners, each));
  }
  return placed;
}

function* placeLater(owners: Owners, named: Named): Steps<string> {
  const rounds = Array.from({ length: MAX_INSTEAD - 1 }, (_, index) => idInstead(named, index + 2));
  const taken = yield* owners(rounds);
  const ours = rounds.find((id) => taken.get(id) === named.workspaceId);
  const free = ours ?? rounds.find((id) => !taken.has(id));
  if (free !== undefined) return free;
  throw new FormsvcError(
    "conflict",
    `other workspaces have ${named.id} and each id that would be given instead; give it another id in the file`,
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

export function ownersIn(table: keyof typeof OWNER_SQL): Owners {
  return function* owners(ids) {
    const rows = yield* all(
      text<{ id: string; workspace_id: string | null }>(OWNER_SQL[table], listParameter(ids)),
    );
    return new Map(rows.map(({ id, workspace_id: workspaceId }) => [id, workspaceId]));
  };
}

type Data = Readonly<Record<string, unknown>>;

/** Returns the data with the ids of its files that are free for this workspace; the same object if they all are. */
export function* placeFiles<Content extends Data>(data: Content, workspaceId: string): Steps<Content> {
  const lists = Object.entries(data).flatMap(([name, value]) => (isFileList(value) ? [{ name, value }] : []));
  const ids = [...new Set(lists.flatMap(({ value }) => value.map(({ id }) => id)))];
  if (ids.length === 0) return data;
  const named = ids.map((id) => ({ id, workspaceId }));
  const placed = yield* placeIds(ownersIn("file"), named);
  const given = new Map(ids.map((id, index) => [id, placed[index] ?? id]));
  if (ids.every((id) => given.get(id) === id)) return data;
  const changed = lists.map(({ name, value }) => [
    name,
    value.map((file) => ({ ...file, id: given.get(file.id) })),
  ]);
  return { ...data, ...(Object.fromEntries(changed) as object) };
}
