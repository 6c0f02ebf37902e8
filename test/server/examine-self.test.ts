import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBackground } from "../../src/foundation/background.ts";
import type { Finding } from "../../src/foundation/finding.ts";
import { silentLog } from "../support/silent-log.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { migratePostgresql } from "../../src/database/postgresql/migrate-postgresql.ts";
import { createSelfExamination } from "../../src/server/examine-self.ts";
import { countTurns } from "../support/count-turns.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { ownCluster } from "../support/own-cluster.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hasPostgresql, openForTest } from "../support/temporary-postgresql.ts";
import { startServer } from "../support/test-server.ts";

async function world() {
  const server = await startServer();
  const { owner: db, config, clock } = server;
  const background = createBackground(() => {});
  const examine = createSelfExamination({ db, config, clock, log: silentLog }, null, background);
  return { server, clock, background, examine };
}

test("the server answers others between any two checks of itself", async () => {
  const { examine } = await world();
  let findings: readonly Finding[] = [];
  const turns = await countTurns(async () => {
    findings = await examine("now");
  });
  expect(findings.length).toBeGreaterThan(15);
  expect(turns).toBeGreaterThanOrEqual(findings.length);
});

test("who wants no newest state is given the last one for some minutes, and does not wait for the next", async () => {
  const { server, clock, examine, background } = await world();
  const leaked = (findings: readonly Finding[]) =>
    findings.filter(({ name, ok }) => name === "keys.leaked" && !ok).length;
  expect(leaked(await examine("lately"))).toBe(0);
  await server.addEndpoint();
  server.owner.execute("UPDATE api_key SET seen_in_browser_at = 1 WHERE kind = 'secret'");
  clock.advance(30_000);
  expect(leaked(await examine("lately"))).toBe(0);
  // The last call began the next look.
  expect(leaked(await examine("now"))).toBe(1);
  expect(leaked(await examine("lately"))).toBe(1);
  server.owner.execute("UPDATE api_key SET seen_in_browser_at = NULL");
  clock.advance(600_000);
  expect(leaked(await examine("lately"))).toBe(0);
  await background.close();
});

test("a configuration that became invalid is named, and not the database", async () => {
  const { server, background } = await world();
  const { owner: db, config, clock } = server;
  const file = join(temporaryFolder(), "formsvc.config.json");
  writeFileSync(file, "{");
  const examine = createSelfExamination({ db, config, clock, log: silentLog }, file, background);
  expect(await examine("now")).toMatchObject([{ name: "config.file", ok: false }]);
});

test.skipIf(!hasPostgresql)(
  "a PostgreSQL that is away is named as a server, with no advice about a file",
  async () => {
    const cluster = await ownCluster({});
    const db = await openForTest(cluster.address("postgres"));
    await migratePostgresql(db);
    await cluster.kill();
    const parts = { db, config: defaultConfig, clock: createFakeClock(), log: silentLog };
    const background = createBackground(() => {});
    const findings = await createSelfExamination(parts, null, background)("now");
    await background.close();
    const away = findings.filter(({ name }) => name.startsWith("database."));
    expect(new Set(away.map(({ name }) => name))).toEqual(new Set(["database.server"]));
    expect(new Set(away.map(({ advice }) => advice))).toEqual(new Set(["do what it says"]));
  },
);
