import { FormsvcError } from "../../foundation/errors.ts";
import { databaseHeard, databaseUnheard, standbyNotAwaited } from "../../foundation/events.ts";
import { newId } from "../../foundation/id.ts";
import type { Log } from "../../foundation/log.ts";
import type { Metrics } from "../../foundation/metrics.ts";
import { readSize } from "../database-size.ts";
import type { ServedDatabase } from "../served-database.ts";
import { createConnections } from "./connections.ts";
import { Heartbeat } from "./heartbeat.ts";
import { join, leave } from "./live-server-rows.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";
import { Pulse } from "./pulse.ts";
import { readStandbys } from "./standbys.ts";
import { createTeller } from "./tell-servers.ts";

/** For the pulse and the heartbeat. */
const OWN_CONNECTIONS = { size: 2, connectTimeoutMs: 3000 };
/** Longest wait for the first look. */
const LONGEST_BEGIN_MS = 10_000;
/** Time between two checks whether the database is heard, for the log. */
const CHECK_MS = 1000;

/** Makes this process one of the servers of a database, from `begin` to `end`. */
export function serveAddress(db: PostgresqlDatabase, now: number, log: Log): ServedDatabase {
  const self = newId("srv", now);
  const connections = createConnections(db.address, OWN_CONNECTIONS);
  let pulse: Pulse | null = null;
  const heartbeat = new Heartbeat({
    connections,
    self,
    lastConnectedAt: () => pulse?.connectedAt ?? -Infinity,
  });
  const teller = createTeller(db, self);
  let checking: NodeJS.Timeout | undefined;
  return {
    // Until the pulse begins, which is before the server listens, this one does nothing that only one should do.
    liveServers: { self, list: () => pulse?.servers() ?? [] },
    writability: heartbeat,
    // PostgreSQL keeps what is deleted until VACUUM.
    cleaner: { note() {}, suspect() {}, clean() {} },
    watch(listener, heads) {
      const watching = new Pulse({ connections, self, listener, heads });
      pulse = watching;
      return { noticeChanges() {}, blindness: () => watching.blindness() };
    },
    tell: () => teller.tell(),
    measure: (metrics) => measureServers(metrics, db, () => pulse),
    async begin() {
      await db.withConnection((client) => join(client, self, db.name));
      if (!(await db.read(readStandbys)).areAwaited) standbyNotAwaited(log);
      heartbeat.start();
      checking = reportSilence(() => pulse?.blindness() === "unheard", log);
      await pulse?.begin(LONGEST_BEGIN_MS).catch(() => {
        throw new FormsvcError("database_unusable", `${db.name}: the server does not answer`);
      });
    },
    async end() {
      clearInterval(checking);
      await Promise.all([pulse?.stop(), heartbeat.stop(), teller.stop()]);
      // If the database is away, the others find out by themselves.
      await db.withConnection((client) => leave(client, self)).catch(() => undefined);
      await connections.close();
    },
  };
}

function reportSilence(isSilent: () => boolean, log: Log): NodeJS.Timeout {
  let wasSilent = false;
  return setInterval(() => {
    if (isSilent() === wasSilent) return;
    wasSilent = !wasSilent;
    if (wasSilent) databaseUnheard(log);
    else databaseHeard(log);
  }, CHECK_MS);
}

function measureServers(metrics: Metrics, db: PostgresqlDatabase, pulse: () => Pulse | null): void {
  metrics.gauge("formsvc_database_bytes", "Size of the database.", async () => (await readSize(db)).database);
  metrics.gauge(
    "formsvc_database_synchronous_standbys",
    "Standbys that have each commit before it is acknowledged; none if the user may not see them.",
    async () => (await db.read(readStandbys)).synchronous,
  );
  metrics.gauge(
    "formsvc_live_servers",
    "Servers that share the database; none while it does not answer.",
    () => pulse()?.servers().length ?? 0,
  );
  metrics.gauge(
    "formsvc_pulse_age_seconds",
    "Time since the last look at what other servers changed.",
    () => {
      const age = pulse()?.ageMs() ?? Infinity;
      return Number.isFinite(age) ? age / 1000 : null;
    },
  );
}
