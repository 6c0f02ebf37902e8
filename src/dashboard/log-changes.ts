import { accountOf, listChangesAfter, newestChange } from "../audit/audit-store.ts";
import type { Database } from "../database/database.ts";
import type { Steps } from "../database/steps.ts";
import { changeMade } from "../foundation/events.ts";
import type { Log } from "../foundation/log.ts";

/**
 * The number of the last changes that are read again. If several servers write, a change may be committed after another one with a higher
 * id.
 */
const OVERLAP = 50;

interface Logged {
  readonly newest: number;
  readonly ids: Set<number>;
}

/**
 * Returns a function that logs the changes that were recorded since its last call, including those of commands and other servers. So no
 * page has to log its changes itself.
 */
export function createChangeLogger(db: Pick<Database, "read">, log: Log): () => Promise<void> {
  // If this fails, the first call repeats it, and changes until then are not logged.
  const atStart = db.read(loggedAlready).catch(() => null);
  let logged: Logged | null = null;
  return async () => {
    const before = (logged ??= (await atStart) ?? (await db.read(loggedAlready)));
    const changes = await db.read(() => listChangesAfter(before.newest - OVERLAP));
    for (const { id, actor, action, subject, workspaceId } of changes) {
      // An overlapping call has logged a change this old already.
      if (logged.ids.has(id) || id <= logged.newest - OVERLAP) continue;
      logged.ids.add(id);
      const accountId = accountOf(actor)?.accountId ?? null;
      changeMade(log, { accountId, action, subject, workspaceId });
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
