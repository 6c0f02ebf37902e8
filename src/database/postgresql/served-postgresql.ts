import { FormsvcError } from "../../foundation/errors.ts";
import {
  databaseHeard,
  databaseUnheard,
  standbyBack,
  standbyMissing,
  standbyNotAwaited,
} from "../../foundation/events.ts";
import { newId } from "../../foundation/id.ts";
import type { Log } from "../../foundation/log.ts";
import type { Metrics } from "../../foundation/metrics.ts";
import { readSize } from "../database-size.ts";
import type { ServedDatabase } from "../served-database.ts";
import { CommitProbe } from "./commit-probe.ts";
import { createConnections } from "./connections.ts";
import { Heartbeat } from "./heartbeat.ts";
import { join, leave } from "./live-server-rows.ts";
import type { PostgresqlDatabase } from "./open-postgresql.ts";
import { Pulse } from "./pulse.ts";
import { DatabaseRefusals } from "./refusals.ts";
import { readStandbys } from "./standbys.ts";
import { createServerNotifier } from "./notify-servers.ts";

/** Connections for the pulse, the heartbeat, the commit probe, and the questions of the probe. */
const OWN_CONNECTIONS = { size: 4, connectTimeoutMs: 3000 };
/** The longest wait for the first look of the pulse. */
const LONGEST_BEGIN_MS = 10_000;
/** The longest time that a post or another change waits for a lost standby before it is refused. */
const LONGEST_STANDBY_WAIT_MS = 10_000;
/** Time between two checks of the database and the standby, for the log. */
const CHECK_MS = 1000;

/** Makes this process one of the servers of a database, from `begin` to `end`. */
export function serveAddress(
  db: PostgresqlDatabase,
  now: number,
  log: Log,
  refusals = new DatabaseRefusals(log, db.name),
): ServedDatabase {
  const self = newId("srv", now);
  const connections = createConnections(db.address, OWN_CONNECTIONS);
  let pulse: Pulse | null = null;
  const looks = refusals.of("pulse");
  const unheard = (): void => databaseUnheard(log, { reason: looks.reason() });
  const heartbeat = new Heartbeat();
  const probe = new CommitProbe(connections, refusals.of("probe"), db.name);
  const notifier = createServerNotifier(db, self, refusals.of("notify"));
  let checking: NodeJS.Timeout | undefined;
  return {
    // Until the pulse begins, which is before the server listens, this server does no work that only one server should do.
    liveServers: { self, list: () => pulse?.servers() ?? [] },
    writability: probe,
    confirmations: probe,
    freeBytes: () => null,
    // PostgreSQL removes deleted content with VACUUM.
    cleaner: { note() {}, suspect() {}, clean() {} },
    watch(listener, heads) {
      const watching = new Pulse({ connections, self, listener, heads, outcomes: looks });
      pulse = watching;
      return {
        noticeChanges() {},
        noticeOwn: () => watching.noticeOwn(db),
        blindness: () => watching.blindness(),
      };
    },
    notifyOthers: () => notifier.notify(),
    measure(metrics) {
      refusals.measure(metrics);
      measureServers(metrics, db, probe, () => pulse);
    },
    async begin() {
      await db.withConnection((client) => join(client, self, db.name));
      if (!(await db.read(readStandbys)).areAwaited) standbyNotAwaited(log);
      heartbeat.start(connections, self, refusals.of("heartbeat"));
      db.guardCommits(() => probe.whenStandbyIsBack(LONGEST_STANDBY_WAIT_MS));
      checking = report(
        [
          { isOn: () => pulse?.blindness() === "unheard", begin: unheard, end: databaseHeard },
          { isOn: () => probe.awaitsStandby(), begin: standbyMissing, end: standbyBack },
        ],
        log,
      );
      const heard = pulse?.begin(LONGEST_BEGIN_MS).catch(() => {
        throw new FormsvcError("database_unusable", `${db.name}: the server does not answer`);
      });
      await Promise.all([heard, probe.begin()]);
    },
    async end() {
      clearInterval(checking);
      await Promise.all([pulse?.stop(), heartbeat.stop(), probe.stop(), notifier.stop()]);
      // If the database does not answer, the other servers notice by themselves that this one is gone.
      await db.withConnection((client) => leave(client, self)).catch(() => undefined);
      await connections.close();
    },
  };
}

/** A state whose beginning and end are logged. */
interface LoggedState {
  readonly isOn: () => boolean;
  readonly begin: (log: Log) => void;
  readonly end: (log: Log) => void;
}

function report(states: readonly LoggedState[], log: Log): NodeJS.Timeout {
  const on = new Set<LoggedState>();
  return setInterval(() => {
    for (const state of states) {
      if (state.isOn() === on.has(state)) continue;
      if (on.delete(state)) {
        state.end(log);
        continue;
      }
      on.add(state);
      state.begin(log);
    }
  }, CHECK_MS);
}

function measureServers(
  metrics: Metrics,
  db: PostgresqlDatabase,
  probe: CommitProbe,
  pulse: () => Pulse | null,
): void {
  metrics.gauge("formsvc_database_bytes", "Size of the database.", async () => (await readSize(db)).database);
  metrics.gauge(
    "formsvc_database_synchronous_standbys",
    "Standbys that have each commit before it is acknowledged; none if the user may not see them.",
    async () => (await db.read(readStandbys)).synchronous,
  );
  metrics.gauge(
    "formsvc_standby_wait_seconds",
    "How long a commit has waited for a synchronous standby that is not there; 0 while none does.",
    () => probe.standbyWaitMs() / 1000,
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
