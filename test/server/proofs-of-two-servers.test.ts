import { beforeAll, describe, expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { solve } from "../support/solve.ts";
import { addressInCluster, hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

describe.skipIf(!hasPostgresql)("two servers on PostgreSQL", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("take a proof of work that either of them asked for, once in all, also when it comes to both at the same time", async () => {
    const machine = operatorMachine();
    machine.configure({ database: { url: await temporaryAddress() } });
    const servers = [await machine.serveHere(), await machine.serveHere()];
    const [one, other] = servers.map(({ url }) => url) as [string, string];
    const endpoint = await machine.createEndpoint();
    await machine.mustRun(["endpoint", "set", "Contact", "--challenge", "pow", "--challenge-required", "on"]);
    const askAt = (url: string): Promise<string> =>
      until(async () => {
        const answer = await fetch(`${url}/challenge?key=${endpoint.publishable}`);
        return answer.status === 200 ? solve((await answer.json()) as Record<string, unknown>) : null;
      });
    const sendTo = async (url: string, proof: string): Promise<number> =>
      await until(async () => {
        const { status } = await tryPost(url, endpoint.publishable, { ...examplePost, _pow: proof });
        return status === 503 ? null : status;
      });
    const [first, second] = [await askAt(one), await askAt(other)];
    expect([await sendTo(other, first), await sendTo(one, first), await sendTo(other, first)]).toEqual([
      200, 403, 403,
    ]);
    const racing = await Promise.all([one, other, one, other].map((url) => sendTo(url, second)));
    expect([
      racing.filter((each) => each === 200).length,
      racing.filter((each) => each === 403).length,
    ]).toEqual([1, 3]);
    expect(await machine.stored(endpoint)).toHaveLength(2);
  });
});
