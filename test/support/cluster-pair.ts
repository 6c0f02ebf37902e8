import {
  type Cluster,
  connectPlainly,
  startCluster,
  startStandby,
  tcpAddress,
} from "./postgresql-cluster.ts";
import { until } from "./until.ts";

/** A primary, and a standby that has every commit before it is acknowledged. */
export interface ClusterPair {
  readonly primary: Cluster;
  readonly standby: Cluster;
  /** Names both hosts of a database, so that whoever connects finds the primary. */
  address(database?: string): string;
  /** Makes the standby the primary. Kill the other one first: two would both take writes. */
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

/** Starts a standby that the primary's commits wait for from now on. */
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
  // Waits until it takes writes.
  await client.query("SELECT pg_promote()");
  await client.end();
}
