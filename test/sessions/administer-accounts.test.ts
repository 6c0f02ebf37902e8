import { expect, test } from "vitest";
import { systemClock } from "../../src/foundation/clock.ts";
import { endAccountSessions, resetTotp } from "../../src/sessions/sign-in-operations.ts";
import { setAccount } from "../../src/workspaces/account-operations.ts";
import { storePassword, storeRecoveryCodes, storeTotp } from "../../src/sessions/credential-store.ts";
import { startSession } from "../../src/sessions/session.ts";
import { vouchForAccount } from "../../src/sessions/vouch-operation.ts";
import { noteDoubt } from "../../src/workspaces/proved-email.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { changeBothWays } from "../support/same-change.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { performOn } from "../support/terminal.ts";

const ANA = "ana@example.org";
const BEN = "ben@example.org";

/** Two accounts; the second one has all that a sign-in needs, and an address in doubt. */
function twoAccounts() {
  const db = temporaryDatabase();
  const now = systemClock.now();
  db.now(function* () {
    yield* insertAccountRows(ANA, now);
    const { id } = (yield* insertAccountRows(BEN, now)).account;
    yield* noteDoubt(id);
    yield* storePassword(id, "hash", now);
    yield* storeTotp(id, Buffer.from("secret"), 1, now);
    yield* storeRecoveryCodes(id, [Buffer.alloc(32, 1)]);
    yield* startSession(id, { userAgent: "Firefox", ipAddress: null }, now);
  });
  return db;
}

type Database = ReturnType<typeof twoAccounts>;

const as = () => ({ now: systemClock.now() });

const CASES: readonly (readonly [string, readonly string[], (db: Database) => Promise<unknown>])[] = [
  ["set", ["--operator"], (db) => performOn(db, setAccount, { account: BEN, is_operator: true }, as())],
  ["reset-totp", [], (db) => performOn(db, resetTotp, { account: BEN }, as())],
  ["vouch", ["--yes"], (db) => performOn(db, vouchForAccount, { account: BEN }, as())],
  ["end-sessions", ["--yes"], (db) => performOn(db, endAccountSessions, { account: BEN }, as())],
];

test.each(CASES)(
  "account %s leaves the same rows as the operation that the System page calls",
  async (verb, flags, change) => {
    const db = twoAccounts();
    const rows = await changeBothWays(operatorMachine(), db, change, ["account", verb, BEN, ...flags]);
    expect(rows.verb).toEqual(rows.command);
    expect(rows.verb.filter((row) => row.startsWith("audit_event "))).toHaveLength(1);
  },
);
