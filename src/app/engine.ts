import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { createLogCopier } from "../database/sqlite/copy-log.ts";
import { serveFile } from "../database/sqlite/served-file.ts";
import { createRateLimiter } from "../foundation/rate-limit.ts";
import { createSqliteOutbox } from "../outbox/queue/outbox.ts";
import { createClaims } from "../outbox/engines/sqlite-claims.ts";
import { createSqliteBatch } from "../submissions/commit/sqlite-batch.ts";
import type { Engine, ServiceParts, StoringParts } from "./parts.ts";

/** Opens the engine of the database. For SQLite, nothing of PostgreSQL is loaded. */
export async function openEngine(parts: ServiceParts, storing: StoringParts): Promise<Engine> {
  const { db } = parts;
  if (db.engine === "sqlite") return openFileEngine(db, parts, storing);
  const { openPostgresqlEngine } = await import("./postgresql-engine.ts");
  return openPostgresqlEngine(db, parts, storing);
}

function openFileEngine(
  db: SqliteDatabase,
  { config, clock, log }: ServiceParts,
  { usage, spam, mayReply }: StoringParts,
): Engine {
  const outbox = createSqliteOutbox(db, mayReply);
  const copier = createLogCopier({ db, clock, log });
  return {
    served: serveFile({ db, backup: config.backup, clock, log, copier }),
    outbox,
    claims: createClaims(db),
    write: createSqliteBatch({ db, usage, outbox, copier, memory: spam, held: config.held }),
    limiter: createRateLimiter(),
    cleanUps: [],
  };
}
