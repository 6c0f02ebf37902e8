import { readFileSync, statSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { newId } from "../../src/foundation/id.ts";
import { asSubmission } from "../support/add-submission.ts";
import { submissionJson } from "../../src/submissions/stored/submission-json.ts";
import { emptyMachine, type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { tryPost } from "../support/posts.ts";
import {
  hasPostgresql,
  openForTest,
  temporaryAddress,
  untilTailed,
} from "../support/temporary-postgresql.ts";
import { write } from "../support/engines.ts";
import { connectPlainly } from "../support/postgresql-cluster.ts";

const EMPTY = "TEMPLATE template0";
const SECRET = /a%2Fb%40c/;

/** A machine whose database is a PostgreSQL one, by its configuration. */
async function postgresqlMachine(from?: string): Promise<OperatorMachine & { readonly address: string }> {
  const address = await temporaryAddress(from);
  return { ...operatorMachine({ database: { url: address } }), address };
}

/** Stores three submissions by an import, and returns their ids. */
async function importThree(machine: OperatorMachine, endpointId: string): Promise<string[]> {
  const submissions = [1, 2, 3].map((number) =>
    asSubmission({
      id: newId("sub", number),
      endpointId,
      createdAt: number,
      data: { email: `n${number}@example.org` },
    }),
  );
  const lines = submissions.map((each) => JSON.stringify(submissionJson(each)));
  await machine.mustRun(["submission", "import", machine.write("all.ndjson", lines.join("\n"))]);
  return submissions.map(({ id }) => id);
}

describe.skipIf(!hasPostgresql)("on PostgreSQL", () => {
  test("commands work as on a file: they make, list, change and delete what they name", async () => {
    const machine = await postgresqlMachine(EMPTY);
    const begun = await machine.mustRun(["init", "--email", "ada@example.org"]);
    expect(begun.stderr).toContain("made a new database: postgresql://formsvc@");
    const { id } = await machine.createEndpoint();
    const [first = "", second = "", third = ""] = await importThree(machine, id);
    await machine.mustRun(["submission", "mark", first, "spam"]);
    expect((await machine.json(["submission", "list", "--search", "N1@"])).data).toMatchObject([
      { id: first },
    ]);
    await untilTailed(await openForTest(machine.address));
    const tail = await machine.mustRun(["submission", "tail", "--cursor", first, "--json"]);
    expect(
      tail.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).toEqual([second, third]);
    const erased = await machine.mustRun([
      "submission",
      "find",
      "--field",
      "email=n3@example.org",
      "--erase",
      "--yes",
    ]);
    expect(erased.stderr).toContain("on its disk until VACUUM");
    const exported = await machine.mustRun(["submission", "export"]);
    expect(exported.stdout).toContain("n2@example.org");
    expect(exported.stdout).not.toContain("n3@example.org");
    const { key } = await machine.json<{ key: { id: string } }>(["key", "issue", id, "--kind", "secret"]);
    await machine.mustRun(["key", "revoke", key.id]);
    await machine.mustRun(["schema", "set", id, machine.write("schema.json", { email: { type: "string" } })]);
    await machine.mustRun(["webhook", "create", "--endpoint", id, "--url", "https://example.org/hook"]);
    expect((await machine.mustRun(["webhook", "list"])).stdout).toContain("https://example.org/hook");
    expect((await machine.mustRun(["spam", "show"])).stdout).toContain("maxLinks");
    expect((await machine.run(["doctor"])).stderr).toContain("commits reach the disk");
    await machine.mustRun(["endpoint", "delete", id, "--yes"]);
    expect((await machine.json(["endpoint", "list"])).data).toEqual([]);
  });

  test("held posts are released and dropped", async () => {
    const machine = await postgresqlMachine();
    await machine.mustRun(["init"]);
    const { id } = await machine.createEndpoint();
    const db = await openForTest(machine.address);
    const [one, two] = [newId("held", Date.now()), newId("held", Date.now())];
    for (const held of [one, two]) {
      await write(
        db,
        `INSERT INTO held (id, workspace_id, endpoint_id, why, trapped, schema_version, data, spam_score, spam_reasons,
           ip_address, user_agent, created_at)
         SELECT '${held}', workspace_id, id, 'spam', 0, 1, '{"message":"x"}', 90, '[]', '', '', 1 FROM endpoint WHERE id = '${id}'`,
      );
    }
    await machine.mustRun(["held", "release", one]);
    await machine.mustRun(["held", "drop", two, "--yes"]);
    expect(await machine.stored({ id, secret: "", publishable: "" })).toEqual([{ message: "x" }]);
    expect((await machine.run(["held", "show", two])).code).toBe(3);
  });

  test("the schema is shown, rehearsed and upgraded, and no command but those that begin makes it", async () => {
    const machine = await postgresqlMachine(EMPTY);
    const refused = await machine.run(["endpoint", "list"]);
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringContaining("there are no tables of formsvc's in it"),
    ]);
    const status = () => machine.json<{ version: number; latest: number }>(["migrate", "status"]);
    const { latest } = await status();
    await machine.mustRun(["migrate", "up", "--dry-run"]);
    expect(await status()).toMatchObject({ version: 0, latest });
    await machine.mustRun(["migrate", "up"]);
    expect(await status()).toMatchObject({ version: latest });
  });

  test("a refused first command leaves no tables, and takes none that somebody has", async () => {
    const machine = await postgresqlMachine(EMPTY);
    const schema = machine.write("schema.json", { name: { type: "string" } });
    const refused = ["endpoint", "create", "--name", "Contact", "--schema", schema, "--language", "tlh"];
    const first = await machine.run(refused);
    expect([first.code, first.stderr]).toEqual([
      2,
      expect.stringMatching(
        /made a new database.*\n.*nothing was stored in it, and its tables are removed again/,
      ),
    ]);
    const objects = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
      UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`;
    const other = await connectPlainly(machine.address);
    onTestFinished(() => other.end());
    expect((await other.query(objects)).rows).toEqual([]);
    // Somebody else is connected, who may be about to store something.
    expect((await machine.run(refused)).stderr).not.toContain("removed again");
    expect((await other.query("SELECT 1 FROM account")).rows).toEqual([]);
    await other.end();
    await machine.mustRun(["account", "create", "ada@example.com"]);
    expect((await machine.run(refused)).code).toBe(2);
    expect((await machine.mustRun(["account", "list"])).stdout).toContain("ada@example.com");
  });

  test("the password is in no output, whichever way the address is named", async () => {
    const machine = emptyMachine();
    const address = await temporaryAddress(EMPTY);
    const env = { FORMSVC_DATABASE_URL: address };
    const outputs = [
      await machine.run(["config", "show"], { env }),
      await machine.run(["endpoint", "list"], { env }),
      await machine.run(["endpoint", "list", "--db", `${address}&nonsense=1`]),
      await machine.run(["endpoint", "list", "--db", address.replace(/host=.*/, "host=/nowhere")]),
      await machine.run(["init", "--db", address]),
      await machine.run(["doctor", "--db", address]),
    ];
    expect(outputs.map(({ code }) => code)).toEqual([0, 5, 2, 5, 0, 0]);
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toMatch(SECRET);
    expect(outputs[4]?.stderr).toContain("set FORMSVC_DATABASE_URL to it");
    expect(readFileSync(machine.path("formsvc.config.json"), "utf8")).not.toMatch(SECRET);
  });

  test("what only a file has is refused with what to do instead", async () => {
    const machine = await postgresqlMachine();
    machine.configure({ backup: { everyHours: 24 }, database: { url: machine.address } });
    const served = await machine.run(["serve", "--port", "0"], { isRefused: true });
    expect([served.code, served.stderr]).toEqual([2, expect.stringContaining("backup.everyHours")]);
    const restored = await machine.run(["restore", "backup.db", "--yes"]);
    expect([restored.code, restored.stderr]).toEqual([
      2,
      expect.stringContaining("formsvc copy --to ADDRESS"),
    ]);
  });

  test("a copy leads from a file to PostgreSQL and back, and what comes back is served", async () => {
    const machine = operatorMachine();
    const endpoint = await machine.createEndpoint();
    await importThree(machine, endpoint.id);
    const address = await temporaryAddress(EMPTY);
    const { tables } = await machine.json<{ tables: object }>(["copy", "--to", address]);
    expect(tables).toMatchObject({ submission: 3, endpoint: 1, api_key: 2 });
    const again = await machine.run(["copy", "--to", address]);
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining("it holds data already")]);
    await machine.mustRun(["copy", "--db", address, "--to", "back.db"]);
    expect((statSync(machine.path("back.db")).mode & 0o777).toString(8)).toBe("600");
    const before = readFileSync(machine.path("back.db"));
    const taken = await machine.run(["copy", "--db", address, "--to", "back.db"]);
    expect([taken.code, taken.stderr]).toEqual([5, expect.stringContaining("exists already")]);
    expect(readFileSync(machine.path("back.db")).equals(before)).toBe(true);
    const { backup } = await machine.json<{ backup: object }>(["backup", "backup.db", "--db", address]);
    expect(backup).toMatchObject({ submissions: 3, by: "command" });
    const server = await machine.serve({ args: ["--db", "back.db"] });
    expect((await tryPost(server.url, endpoint.secret)).status).toBe(200);
    await server.stop();
    expect(
      (await machine.json<{ data: unknown[] }>(["submission", "list", "--db", "back.db"])).data,
    ).toHaveLength(4);
  });
});
