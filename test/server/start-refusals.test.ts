import { beforeAll, describe, expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { administrator, ownCluster } from "../support/own-cluster.ts";
import {
  addressInCluster,
  administer,
  hasPostgresql,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";

const EMPTY = "TEMPLATE template0";
/** The password of the tests' clusters, as it is and as the address has it. */
const SECRETS = ["a/b@c:d%e", "a%2Fb%40c"];

/** What `serve` says when it does not start. */
async function refusalOf(address: string): Promise<string> {
  const machine = operatorMachine({ database: { url: address } });
  const { code, stdout, stderr } = await machine.run(["serve", "--port", "0"], { isRefused: true });
  for (const secret of SECRETS) expect(stdout + stderr).not.toContain(secret);
  expect(code).toBe(5);
  return stderr;
}

describe.skipIf(!hasPostgresql)("serve does not start", () => {
  // The shared cluster may have to be started first.
  beforeAll(() => addressInCluster("postgres"), 120_000);

  test.each([
    ["synchronous_commit = off", "synchronous_commit is off, so an acknowledged post may be lost"],
    ["synchronous_commit = local", "synchronous_commit is local, so an acknowledged post may be lost"],
    ["default_transaction_read_only = on", "default_transaction_read_only is on for this user or database"],
  ])("on a database with %s, and says in one sentence what to change", async (setting, message) => {
    const address = await temporaryAddress(EMPTY);
    await administer(`ALTER DATABASE ${/\/(test_\w+)\?/.exec(address)?.[1]} SET ${setting}`);
    expect(await refusalOf(address)).toMatch(
      new RegExp(`^formsvc: postgresql://formsvc@.*: ${message}.*\n$`),
    );
  });

  test("on a database whose encoding does not hold every text", async () => {
    const address = await temporaryAddress("ENCODING 'LATIN1' TEMPLATE template0");
    expect(await refusalOf(address)).toContain("the database has the encoding LATIN1; make one with");
  });

  test("on a standby, nor on a primary that does not wait for its disk", async () => {
    const cluster = await ownCluster({ settings: ["fsync=off"], standby: true });
    const address = cluster.address("postgres");
    expect(await refusalOf(address)).toContain("this server is a standby, which cannot be written");
    const admin = await administrator(cluster);
    await admin.query("SELECT pg_promote()");
    expect(await refusalOf(address)).toContain("fsync is off, so a power cut may destroy everything");
  });

  test("where the password is wrong or nothing listens", async () => {
    const address = await addressInCluster("postgres");
    const wrong = address.replace(/:[^:@]*@/, ":a%2Fb%40c@");
    expect(await refusalOf(wrong)).toContain("the server does not let this user in");
    const nowhere = "postgresql://formsvc:a%2Fb%40c@127.0.0.1:1/forms";
    expect(await refusalOf(nowhere)).toContain("nothing listens there");
  });
});
