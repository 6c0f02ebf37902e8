import {
  type Cluster,
  connectPlainly,
  startCluster,
  startStandby,
  tcpAddress,
} from "./postgresql-cluster.ts";
import { until } from "./until.ts";

/** A primary and its standby. Each commit is on the standby before it is acknowledged. */
export interface ClusterPair {
  readonly primary: Cluster;
  readonly standby: Cluster;
  /** Returns an address of a database that names both hosts, so that a client finds the primary. */
  address(database?: string): string;
  /** Makes the standby the primary. Kill the old primary first, because otherwise both would accept writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPair(): Promise<ClusterPair> {
  const primary = await startCluster({ tcp: true });
  const standby = await attachStandby(primary);
  return {
    primary,
    standby,
    address: (database) => tcpAddress([primary.port, standby.port], database),
    promote: () => promote(standby),
    async stop() {
      await Promise.all([standby.stop(), primary.stop()]);
    },
  };
}

/** Starts a standby. From then on, each commit of the primary waits for it. */
export async function attachStandby(primary: Cluster): Promise<Cluster> {
  const standby = await startStandby(primary, { tcp: true });
  const admin = await connectPlainly(primary.address("postgres"));
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await admin.query("SELECT pg_reload_conf()");
  const isSynchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
  await until(async () => (await admin.query(isSynchronous)).rowCount === 1);
  await admin.end();
  return standby;
}

export async function promote(standby: Cluster): Promise<void> {
  const client = await connectPlainly(standby.address("postgres"));
  // `pg_promote()` waits until the standby accepts writes.
  await client.query("SELECT pg_promote()");
  await client.end();
}
