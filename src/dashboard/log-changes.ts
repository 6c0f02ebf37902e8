import { accountOf, listChangesAfter, newestChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { changed } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/** This many of the last changes are looked at again. If several servers write, one may be committed after another of a higher number. */
const OVERLAP = 50;

interface Logged {
  readonly newest: number;
  readonly ids: Set<number>;
}

/**
 * Writes to the log what the list of changes has got since the last call, those of commands and other servers included. So no page has
 * to remember to do it.
 */
export function createChangeLogger(db: Pick<Database, "read">, log: Log): () => Promise<void> {
  // If it fails, the first call reads it, and what was changed until then is not logged.
  const atStart = db.read(loggedAlready).catch(() => null);
  let logged: Logged | null = null;
  return async () => {
    const before = (logged ??= (await atStart) ?? (await db.read(loggedAlready)));
    const changes = await db.read(() => listChangesAfter(before.newest - OVERLAP));
    for (const { id, actor, action, subject, workspaceId } of changes) {
      // What is that old was logged by another call, which went on meanwhile.
      if (logged.ids.has(id) || id <= logged.newest - OVERLAP) continue;
      logged.ids.add(id);
      const accountId = accountOf(actor)?.accountId ?? null;
      changed(log, { accountId, action, subject, workspaceId });
    }
    logged = withoutOld({ newest: Math.max(logged.newest, changes.at(-1)?.id ?? 0), ids: logged.ids });
  };
}

function* loggedAlready(): Steps<Logged> {
  const newest = yield* newestChange();
  return { newest, ids: new Set((yield* listChangesAfter(newest - OVERLAP)).map(({ id }) => id)) };
}

function withoutOld({ newest, ids }: Logged): Logged {
  for (const id of ids) if (id <= newest - OVERLAP) ids.delete(id);
  return { newest, ids };
}
