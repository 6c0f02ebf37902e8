import { expect, test } from "vitest";
import { createBackground } from "../../src/foundation/background.ts";
import type { Finding } from "../../src/foundation/finding.ts";
import { silentLog } from "../support/silent-log.ts";
import { createSelfExamination } from "../../src/server/examine-self.ts";
import { countTurns } from "../support/count-turns.ts";
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
