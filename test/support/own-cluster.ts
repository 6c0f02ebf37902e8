import type { Client } from "pg";
import { onTestFinished } from "vitest";
import { type Cluster, type ClusterOptions, connectPlainly, startCluster } from "./postgresql-cluster.ts";

/** Starts a cluster for one test, which is stopped at the end of the test. */
export async function ownCluster(options: ClusterOptions): Promise<Cluster> {
  const cluster = await startCluster(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** Connects as the cluster's first user, until the end of the test. */
export async function administrator(cluster: Cluster): Promise<Client> {
  const client = await connectPlainly(cluster.address("postgres"));
  onTestFinished(() => client.end());
  return client;
}
