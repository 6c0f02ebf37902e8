import { readdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { startLink } from "../support/faulty-link.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { collect } from "../support/program.ts";
import { post, postForever, postPatiently, storedIds } from "../support/posts.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { rowsOf } from "../support/engines.ts";

const EMPTY = "TEMPLATE template0";
const POSTS = 3;
/** The password of the tests' cluster, as the address has it. */
const SECRET = /a%2Fb%40c/;
const COUNTS = "SELECT (SELECT count(*) FROM submission) AS stored, (SELECT sum(used) FROM usage) AS counted";

interface Copied {
  readonly tables: Readonly<Record<string, number>>;
}

/** A machine with a file that holds some submissions. */
async function filledMachine(): Promise<OperatorMachine> {
  const machine = operatorMachine();
  const { secret } = await machine.createEndpoint();
  const server = await machine.serveHere();
  for (let count = 0; count < POSTS; count += 1) await post(server.url, secret);
  await server.stop();
  return machine;
}

const filesOf = (machine: OperatorMachine, name: string): string[] =>
  readdirSync(machine.folder).filter((each) => each.startsWith(name));

describe.skipIf(!hasPostgresql)("copy", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test("of a database into itself is refused, with what to name", async () => {
    const machine = operatorMachine();
    const address = await temporaryAddress(EMPTY);
    const env = { FORMSVC_DATABASE_URL: address };
    const ran = await machine.run(["copy", "--to", address], { env });
    expect([ran.code, ran.stderr]).toEqual([
      2,
      expect.stringContaining(
        "a copy of this database into itself; name the one to copy with --db",
      ) as string,
    ]);
  });

  test("and each other command say when an address is set over a file, or a file over an address", async () => {
    const machine = operatorMachine();
    const address = await temporaryAddress(EMPTY);
    await machine.mustRun(["account", "create", "ada@example.org"]);
    const told = async (args: readonly string[], env = {}) => (await machine.mustRun(args, { env })).stderr;
    const list = ["account", "list", "--json"];
    expect(await told(list)).toBe("");
    machine.configure({ database: { path: "formsvc.db" } });
    expect(await told(["account", "create", "ben@example.org"], { FORMSVC_DATABASE_URL: address })).toContain(
      "the database is that of FORMSVC_DATABASE_URL; database.path in ",
    );
    expect(await told([...list, "--db", address])).toContain(
      "the database is that of --db; database.path in ",
    );
    machine.configure({ database: { url: address } });
    expect(await told([...list, "--db", "formsvc.db"])).toContain(
      "the database is that of --db; database.url in ",
    );
    machine.configure({ database: { path: "formsvc.db", url: address } });
    const both = await machine.run(list);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("are both set") as string]);
  });

  test.each(["killed", "cut off"] as const)(
    "that is %s on the way to PostgreSQL leaves nothing there, and can be made again",
    async (end) => {
      const machine = await filledMachine();
      const address = await temporaryAddress(EMPTY);
      const link = await startLink(address);
      const isHalfWay = link.silenceAt("INSERT INTO submission ");
      const child = machine.start(["copy", "--to", link.address]);
      const ended = collect(child);
      await isHalfWay;
      if (end === "killed") child.kill("SIGKILL");
      link.cut();
      const { code, stderr } = await ended;
      if (end === "cut off") expect([code, stderr]).toEqual([5, expect.stringContaining("connection broke")]);
      expect(stderr).not.toMatch(SECRET);
      const db = await openForTest(address);
      expect(await rowsOf(db, "SELECT id FROM endpoint")).toEqual([]);
      const copied = await machine.json<Copied>(["copy", "--to", address]);
      expect(Object.keys(copied)).toEqual(["tables"]);
      expect(copied.tables).toMatchObject({ submission: POSTS, endpoint: 1, api_key: 2 });
      expect(await rowsOf(db, COUNTS)).toEqual([{ stored: POSTS, counted: POSTS }]);
    },
  );

  test.each(["killed", "cut off"] as const)(
    "that is %s on the way to a file makes no file of that name, and can be made again",
    async (end) => {
      const machine = await filledMachine();
      const address = await temporaryAddress(EMPTY);
      await machine.mustRun(["copy", "--to", address]);
      const link = await startLink(address);
      const isHalfWay = link.silenceAt('"spam_reasons"');
      const child = machine.start(["copy", "--db", link.address, "--to", "back.db"]);
      const ended = collect(child);
      await isHalfWay;
      if (end === "killed") child.kill("SIGKILL");
      link.cut();
      const { code } = await ended;
      expect(filesOf(machine, "back.db")).not.toContain("back.db");
      // A process that is killed can tidy nothing up.
      if (end === "cut off") expect([code, filesOf(machine, "back.db")]).toEqual([5, []]);
      await machine.mustRun(["copy", "--db", address, "--to", "back.db"]);
      expect(storedIds(machine.path("back.db")).size).toBe(POSTS);
    },
  );

  test("from two servers at work has all that was acknowledged before, all of one moment, and is served", async () => {
    const machine = operatorMachine();
    machine.configure({ database: { url: await temporaryAddress(EMPTY) } });
    const servers = [await machine.serve(), await machine.serve()];
    const { secret } = await machine.createEndpoint();
    const posting = servers.map(({ url }) => postForever(url, secret, 2, postPatiently));
    for (const [index, name] of ["copy.db", "backup.db"].entries()) {
      for (const { url } of servers) await postPatiently(url, secret);
      const before = posting.flatMap(({ acknowledged }) => acknowledged);
      await machine.mustRun(index === 0 ? ["copy", "--to", name] : ["backup", name]);
      const stored = storedIds(machine.path(name));
      expect(before.filter((id) => !stored.has(id))).toEqual([]);
      expect(machine.open(machine.path(name)).prepare(COUNTS).get()).toEqual({
        stored: stored.size,
        counted: stored.size,
      });
    }
    for (const sender of posting) await sender.stop();
    for (const server of servers) expect(await server.stop()).toBe(0);
    machine.configure({});
    for (const name of ["copy.db", "backup.db"]) {
      const server = await machine.serve({ args: ["--db", name] });
      const id = await post(server.url, secret);
      expect(await server.stop()).toBe(0);
      expect(storedIds(machine.path(name))).toContain(id);
    }
  });

  test("from a file that is served has all of one moment too", async () => {
    const machine = operatorMachine();
    const address = await temporaryAddress(EMPTY);
    const { secret } = await machine.createEndpoint();
    const server = await machine.serve();
    const posting = postForever(server.url, secret, 2);
    await post(server.url, secret);
    const before = [...posting.acknowledged];
    await machine.mustRun(["copy", "--to", address]);
    await posting.stop();
    const db = await openForTest(address);
    const stored = new Set(
      (await rowsOf<{ id: string }>(db, "SELECT id FROM submission")).map(({ id }) => id),
    );
    expect(before.filter((id) => !stored.has(id))).toEqual([]);
    expect(await rowsOf(db, COUNTS)).toEqual([{ stored: stored.size, counted: stored.size }]);
  });
});
