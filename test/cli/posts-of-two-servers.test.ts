import { beforeAll, describe, expect, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { examplePost, postPatiently, tryPost } from "../support/posts.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
  untilTailed,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

interface Found {
  readonly submissions: readonly { readonly id: string }[];
  readonly held: readonly { readonly id: string }[];
}

const BOB = "bob@example.org";

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id).toSorted();

async function exported(machine: OperatorMachine): Promise<string[]> {
  const { stdout } = await machine.mustRun(["submission", "export", "--format", "ndjson"]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return idsOf(lines.map((line) => JSON.parse(line) as { id: string }));
}

describe.skipIf(!hasPostgresql)("commands beside two servers on PostgreSQL", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("work on the posts of both, and both know at once what is gone", async () => {
    const address = await temporaryAddress();
    const machine = operatorMachine();
    machine.configure({ database: { url: address } });
    const servers = [await machine.serve(), await machine.serve()];
    const urls = servers.map(({ url }) => url);
    const { secret } = await machine.createEndpoint();
    const ids: string[] = [];
    const ofBob: string[] = [];
    for (const url of urls) {
      ids.push(await postPatiently(url, secret, { ...examplePost, message: "Are you open on Sunday?" }));
      ofBob.push(await postPatiently(url, secret, { ...examplePost, email: BOB, message: "And on Monday?" }));
      const trapped = { ...examplePost, email: BOB, message: `Held at ${url}`, _gotcha: "filled" };
      await until(async () => (await tryPost(url, secret, trapped)).status === 429);
    }
    const headers = { authorization: `Bearer ${secret}` };
    /** What each server says of it that has heard of the database lately. */
    const statusesOf = (id: string) =>
      Promise.all(
        urls.map((url) =>
          until(async () => {
            const { status } = await fetch(`${url}/submissions/${id}`, { headers });
            return status === 503 ? null : status;
          }),
        ),
      );
    await untilTailed(await openForTest(address));
    expect(await exported(machine)).toEqual([...ids, ...ofBob].toSorted());
    for (const id of [...ids, ...ofBob]) expect(await statusesOf(id)).toEqual([200, 200]);

    const rehearsed = await machine.json<{ posts: number; changes: { id: string }[] }>([
      "spam",
      "set",
      "--keyword",
      "sunday=40",
      "--dry-run",
    ]);
    expect([rehearsed.posts, idsOf(rehearsed.changes)]).toEqual([6, ids.toSorted()]);

    const search = ["submission", "find", "--field", `email=${BOB}`];
    const found = await machine.json<Found>(search);
    expect([idsOf(found.submissions), found.held.length]).toEqual([ofBob.toSorted(), 2]);

    const [released = "", dropped = ""] = found.held.map(({ id }) => id);
    const release = await machine.json<{ released: { submission: string }[] }>(["held", "release", released]);
    await machine.mustRun(["held", "drop", dropped, "--yes"]);
    ofBob.push(release.released[0]?.submission ?? "");
    expect((await machine.json<Found>(search)).held).toEqual([]);
    expect(await statusesOf(ofBob[2] ?? "")).toEqual([200, 200]);

    await machine.mustRun([...search, "--erase", "--yes"]);
    for (const id of ofBob) expect(await statusesOf(id)).toEqual([404, 404]);
    await machine.mustRun(["submission", "delete", ids[0] ?? "", "--yes"]);
    expect(await statusesOf(ids[0] ?? "")).toEqual([404, 404]);
    expect(await exported(machine)).toEqual(ids.slice(1));
  });
});
