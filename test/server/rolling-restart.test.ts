import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { tryPost } from "../support/posts.ts";
import type { RunningServer } from "../support/running-server.ts";
import { addressInCluster, hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const SENDERS = 6;
/** Between two posts of a sender. Without it, they would take the processor from the servers that start. */
const PAUSE_MS = 10;
/** Taken between two changes. */
const POSTS_BETWEEN = 60;
/** What a server says on a machine so busy that it has not looked at the database for a second. */
const BUSY = "The database does not answer; try again shortly.";

interface Answered {
  readonly submission_id?: string;
  readonly message?: string;
}

/** A load balancer: new posts go to the servers that it has, and one that it gives up has answered what it got. */
class Balancer {
  readonly #urls: string[] = [];
  readonly #underWay: string[] = [];
  #turn = 0;

  add({ url }: RunningServer): void {
    this.#urls.push(url);
  }

  async giveUp({ url }: RunningServer): Promise<void> {
    this.#urls.splice(this.#urls.indexOf(url), 1);
    await until(() => !this.#underWay.includes(url));
  }

  async post(key: string): Promise<Answered> {
    this.#turn += 1;
    const url = this.#urls[this.#turn % this.#urls.length] ?? "";
    this.#underWay.push(url);
    const answer = (await (await tryPost(url, key)).json()) as Answered;
    this.#underWay.splice(this.#underWay.indexOf(url), 1);
    return answer;
  }
}

describe.skipIf(!hasPostgresql)("two servers that are replaced", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("one after the other refuse no post, and each is stored once", async () => {
    const machine = operatorMachine();
    machine.configure({ database: { url: await temporaryAddress() } });
    const balancer = new Balancer();
    const start = async (): Promise<RunningServer> => {
      const server = await machine.serve();
      balancer.add(server);
      return server;
    };
    const servers = [await start(), await start()];
    const { secret } = await machine.createEndpoint();
    const state = { isOver: false };
    const answers: Answered[] = [];
    const sending = Array.from({ length: SENDERS }, async () => {
      while (!state.isOver) {
        const answer = await balancer.post(secret);
        if (answer.message !== BUSY) answers.push(answer);
        await sleep(PAUSE_MS);
      }
    });
    const takeMore = async (): Promise<void> => {
      const before = answers.length;
      await until(() => answers.length >= before + POSTS_BETWEEN);
    };
    for (const old of servers) {
      await takeMore();
      await start();
      await takeMore();
      await balancer.giveUp(old);
      expect(await old.stop()).toBe(0);
    }
    await takeMore();
    state.isOver = true;
    await Promise.all(sending);
    expect(answers.filter(({ submission_id: id }) => id === undefined)).toEqual([]);
    const { stdout } = await machine.mustRun(["submission", "export", "--format", "ndjson"]);
    const lines = stdout.split("\n").filter((line) => line !== "");
    const stored = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    expect(stored).toEqual(answers.map(({ submission_id: id = "" }) => id).toSorted());
  });
});
