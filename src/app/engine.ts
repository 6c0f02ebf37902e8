import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import { serveFile } from "../database/sqlite/served-file.ts";
import type { ServedDatabase } from "../database/served-database.ts";
import { createRateLimiter, type RateLimiter } from "../foundation/rate-limit.ts";
import type { SpamMemory } from "../history/spam-memory.ts";
import type { Claims } from "../outbox/claims.ts";
import { createSqliteOutbox, type MayReply, type Outbox } from "../outbox/outbox.ts";
import { createClaims } from "../outbox/sqlite-claims.ts";
import type { BatchWriter } from "../submissions/batch.ts";
import { createSqliteBatch } from "../submissions/sqlite-batch.ts";
import type { UsageCounter } from "../workspaces/usage-counter.ts";
import type { ServiceParts } from "./parts.ts";

/** The parts of a server that differ by the engine of its database. */
export interface Engine {
  readonly served: ServedDatabase;
  readonly outbox: Outbox;
  readonly claims: Claims;
  /** Stores a batch of posts. */
  readonly write: BatchWriter;
  readonly limiter: RateLimiter;
  /** What only this engine has to clean up: each deletes some rows and returns how many. */
  readonly cleanUps: readonly (() => Promise<number>)[];
}

export interface EngineParts extends ServiceParts {
  readonly usage: UsageCounter;
  readonly memory: SpamMemory;
  /** Null without a mail server. */
  readonly mayReply: MayReply | null;
}

/** Loads nothing of PostgreSQL for a file. */
export async function openEngine(parts: EngineParts): Promise<Engine> {
  const { db } = parts;
  if (db.engine === "sqlite") return openFileEngine(db, parts);
  const { openPostgresqlEngine } = await import("./postgresql-engine.ts");
  return openPostgresqlEngine(db, parts);
}

function openFileEngine(db: SqliteDatabase, parts: EngineParts): Engine {
  const { config, clock, log, usage, memory, mayReply } = parts;
  const outbox = createSqliteOutbox(db, mayReply);
  return {
    served: serveFile({ db, backup: config.backup, clock, log }),
    outbox,
    claims: createClaims(db),
    write: createSqliteBatch({ db, usage, outbox, memory, held: config.held }),
    limiter: createRateLimiter(),
    cleanUps: [],
  };
}
