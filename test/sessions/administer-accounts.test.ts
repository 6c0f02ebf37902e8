import { expect, test } from "vitest";
import type { Steps } from "../../src/database/steps.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { changeOperator, resetTotp, signOut } from "../../src/sessions/administer-accounts.ts";
import { storePassword, storeRecoveryCodes, storeTotp } from "../../src/sessions/credential-store.ts";
import { startSession } from "../../src/sessions/session.ts";
import { createAccount } from "../../src/workspaces/workspace-store.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { changeBothWays } from "../support/same-change.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const ANA = "ana@example.org";
const BEN = "ben@example.org";

/** Two accounts, and the second one has all that a sign-in needs. */
function twoAccounts() {
  const db = temporaryDatabase();
  const now = systemClock.now();
  db.now(function* () {
    yield* createAccount(ANA, now);
    const { id } = (yield* createAccount(BEN, now)).account;
    yield* storePassword(id, "hash", now);
    yield* storeTotp(id, Buffer.from("secret"), 1, now);
    yield* storeRecoveryCodes(id, [Buffer.alloc(32, 1)]);
    yield* startSession(id, { userAgent: "Firefox", ipAddress: null }, now);
  });
  return db;
}

type Database = ReturnType<typeof twoAccounts>;

const CASES: readonly (readonly [string, readonly string[], (now: number) => Steps<unknown>])[] = [
  ["set", ["--operator"], (now: number) => changeOperator(null, BEN, true, now)],
  ["reset-totp", [], (now: number) => resetTotp(null, BEN, now)],
  ["end-sessions", ["--yes"], (now: number) => signOut(null, BEN, "all", now)],
];

test.each(CASES)(
  "account %s leaves the same rows as the verb that the System page calls",
  async (verb, flags, steps) => {
    const db = twoAccounts();
    const change = (copy: Database) => copy.transaction(() => steps(systemClock.now()));
    const rows = await changeBothWays(operatorMachine(), db, change, ["account", verb, BEN, ...flags]);
    expect(rows.verb).toEqual(rows.command);
    expect(rows.verb.filter((row) => row.startsWith("audit_event "))).toHaveLength(1);
  },
);
