import type { Client } from "pg";
import { onTestFinished } from "vitest";
import { type Cluster, type ClusterOptions, connectPlainly, startCluster } from "./postgresql-cluster.ts";

/** A cluster for one test alone, which stops it at its end. */
export async function ownCluster(options: ClusterOptions): Promise<Cluster> {
  const cluster = await startCluster(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** A connection of the cluster's first user, until the test ends. */
export async function administrator(cluster: Cluster): Promise<Client> {
  const client = await connectPlainly(cluster.address("postgres"));
  onTestFinished(() => client.end());
  return client;
}
