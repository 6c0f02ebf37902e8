import { accountOf, listChangesAfter, newestChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { changed } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** This many of the last changes are looked at again. If several servers write, one may be committed after another of a higher number. */
const OVERLAP = 50;

interface Told {
  readonly newest: number;
  readonly ids: Set<number>;
}

/**
 * Writes to the log what the list of changes has got since the last call, those of commands and other servers included. So no page has
 * to remember to do it.
 */
export function createChangeTeller(db: Pick<Database, "read">, log: Log): () => Promise<void> {
  // If it fails, the first call reads it, and what was changed until then is not told.
  const atStart = db.read(toldAlready).catch(() => null);
  let told: Told | null = null;
  return async () => {
    const before = (told ??= (await atStart) ?? (await db.read(toldAlready)));
    const changes = await db.read(() => listChangesAfter(before.newest - OVERLAP));
    for (const { id, actor, action, subject, workspaceId } of changes) {
      // What is that old was told by another call, which went on meanwhile.
      if (told.ids.has(id) || id <= told.newest - OVERLAP) continue;
      told.ids.add(id);
      const accountId = accountOf(actor)?.accountId ?? null;
      changed(log, { accountId, action, subject, workspaceId });
    }
    told = withoutOld({ newest: Math.max(told.newest, changes.at(-1)?.id ?? 0), ids: told.ids });
  };
}

function* toldAlready(): Steps<Told> {
  const newest = yield* newestChange();
  return { newest, ids: new Set((yield* listChangesAfter(newest - OVERLAP)).map(({ id }) => id)) };
}

function withoutOld({ newest, ids }: Told): Told {
  for (const id of ids) if (id <= newest - OVERLAP) ids.delete(id);
  return { newest, ids };
}
