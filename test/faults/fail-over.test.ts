import { expect, onTestFinished, test } from "vitest";
import { attachStandby, promote, startPair } from "../support/cluster-pair.ts";
import { type FaultyLink, startLink } from "../support/faulty-link.ts";
import { isReady } from "../support/is-ready.ts";
import { emptyMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { type Cluster, findPostgresql, tcpAddress } from "../support/postgresql-cluster.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { until } from "../support/until.ts";
import { expectStableIds, waitForDeliveries } from "./deliveries.ts";
import { extent, isShort, PATIENCE_MS, report } from "./extent.ts";
import { countUp, type Poster, sendUntilAcknowledged, startPosting } from "./poster.ts";
import { createNumberEndpoint, type FaultServer, freePort, startServer } from "./server.ts";
import { expectNothingLost, readStoredOnPostgresql } from "./stored.ts";

/** Of each of the two servers. */
const CONNECTIONS = 8;
/** Acknowledged after a fault before the next one. */
const POSTS_BETWEEN = isShort ? 40 : 100;
/** Of a connection. A standby is made and started under this load, which would take the processor from it. */
const PAUSE_MS = 20;
const DELAY_MS = 15;

/** Two servers, each reaching a primary and its synchronous standby through links that this test controls. */
interface World {
  readonly machine: OperatorMachine;
  readonly servers: FaultServer[];
  /** The first leads to one of the clusters, the second to the other. */
  readonly links: readonly [FaultyLink, FaultyLink];
  readonly clusters: [Cluster, Cluster];
  /** Which of the clusters is the primary. */
  primary: 0 | 1;
  /** Resolves when this number of posts more has been acknowledged. */
  readonly acknowledge: (count: number) => Promise<void>;
}

const FAULTS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async "kill -9 of a server"({ machine, servers }) {
    const [killed] = servers.splice(0, 1);
    await killed?.end("SIGKILL");
    servers.push(await startServer(machine, killed?.port ?? 0));
  },
  async "kill -9 of PostgreSQL"({ clusters, primary }) {
    await clusters[primary].kill();
    await clusters[primary].restart();
  },
  async "loss of the primary"(world) {
    const { clusters, links, primary } = world;
    const other = primary === 0 ? 1 : 0;
    await clusters[primary].kill();
    await promote(clusters[other]);
    await clusters[primary].stop();
    world.primary = other;
    clusters[primary] = await attachStandby(clusters[other]);
    links[primary].redirect(clusters[primary].address("postgres"));
  },
  async "broken connections"({ links }) {
    for (const link of links) link.cut();
    await Promise.resolve();
  },
  async "a silent network"({ links, servers }) {
    for (const link of links) link.silence();
    // They know by themselves that they cannot keep what they promise.
    for (const { port } of servers) await until(async () => !(await isReady(port)));
    for (const link of links) link.resume();
  },
  async "a slow network"({ links, acknowledge }) {
    for (const link of links) link.delay(DELAY_MS);
    await acknowledge(POSTS_BETWEEN);
    for (const link of links) link.delay(0);
  },
};

test.skipIf(findPostgresql() === null)(
  "whatever fails under two servers on PostgreSQL, nothing acknowledged is lost and nothing is stored twice",
  { timeout: PATIENCE_MS },
  async () => {
    const pair = await startPair();
    const clusters: [Cluster, Cluster] = [pair.primary, pair.standby];
    onTestFinished(async () => void (await Promise.all(clusters.map((cluster) => cluster.stop()))));
    const links: [FaultyLink, FaultyLink] = [
      await startLink(clusters[0].address("postgres")),
      await startLink(clusters[1].address("postgres")),
    ];
    const machine = emptyMachine();
    machine.write("formsvc.config.json", { database: { url: tcpAddress(links.map(({ port }) => port)) } });
    await machine.mustRun(["init"]);
    const { secret: key } = await createNumberEndpoint(machine);
    await using receiver = await startReceiverWith((response) => response.end());
    await machine.json([
      "webhook",
      "create",
      "--endpoint",
      "Numbers",
      "--url",
      receiver.url,
      "--allow-private",
    ]);

    const ports = [await freePort(), await freePort()];
    const servers = [await startServer(machine, ports[0]!), await startServer(machine, ports[1]!)];
    // Who waits for a standby has nothing to warn of.
    for (const server of servers) expect(server.log()).not.toContain("database.standby-not-awaited");
    const numbers = countUp();
    const posters: Poster[] = ports.map((port) =>
      startPosting({ port, key, pauseMs: PAUSE_MS }, CONNECTIONS, numbers),
    );
    const posts = () => posters.flatMap((poster) => poster.posts);
    const acknowledged = () => posts().filter(({ id }) => id !== null).length;
    const acknowledge = async (count: number): Promise<void> => {
      const before = acknowledged();
      await until(() => acknowledged() >= before + count);
    };
    const world: World = { machine, servers, links, clusters, primary: 0, acknowledge };
    const names = Object.keys(FAULTS);
    const rounds = isShort ? names.length : extent.killRounds;
    for (let round = 0; round < rounds; round += 1) {
      await acknowledge(POSTS_BETWEEN);
      const known = posts().filter(({ id }) => id !== null);
      await FAULTS[names[round % names.length]!]!(world);
      await acknowledge(POSTS_BETWEEN);
      expectNothingLost(
        known,
        await readStoredOnPostgresql(world.clusters[world.primary].address("postgres")),
      );
    }
    for (const poster of posters) await poster.stop();
    const all = posts();
    const cutOff = all.filter(({ idempotencyKey, id }) => idempotencyKey !== null && id === null);
    await sendUntilAcknowledged({ port: ports[0]!, key }, cutOff);
    const stored = await readStoredOnPostgresql(world.clusters[world.primary].address("postgres"));
    expectNothingLost(all, stored);
    const withKey = all.filter(({ idempotencyKey }) => idempotencyKey !== null);
    expect(withKey.filter(({ n }) => stored.idsByNumber.get(n)?.length !== 1)).toEqual([]);
    expect(await waitForDeliveries(all, receiver.received)).toEqual([]);
    expectStableIds(receiver.received);
    for (const server of world.servers) expect(await server.end("SIGTERM")).toBe(0);
    report("faults under two servers", {
      rounds,
      acknowledged: acknowledged(),
      "cut off": cutOff.length,
      lost: 0,
      "stored twice": 0,
      deliveries: receiver.received.length,
    });
  },
);
