import { expect, test } from "vitest";
import { recordChange } from "../../src/audit/audit-store.ts";
import { createChangeLogger } from "../../src/dashboard/log-changes.ts";
import type { Database } from "../../src/database/database.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { createLog } from "../../src/foundation/log.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

function begin() {
  const db = temporaryDatabase();
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const change = (subject: string): void =>
    db.now(() =>
      recordChange(null, { action: "endpoint.pause", subject, workspaceId: null, detail: null }, NOON),
    );
  const told = (): string[] => lines.map((line) => (JSON.parse(line) as { subject: string }).subject);
  return { db, log, change, told };
}

test("changes are told to the log from the next call on if the database did not answer at the start", async () => {
  const { db, log, change, told } = begin();
  let failures = 2;
  const read: Database["read"] = async (steps) => {
    if (failures-- > 0) throw new FormsvcError("database_busy", "no answer");
    return db.read(steps);
  };
  const tell = createChangeLogger({ read }, log);
  await expect(tell()).rejects.toThrow("no answer");
  await tell();
  change("ep_1");
  await tell();
  expect(told()).toEqual(["ep_1"]);
});

test("two calls at the same time tell each of many changes once", async () => {
  const { db, log, change, told } = begin();
  const tell = createChangeLogger(db, log);
  await tell();
  const subjects = Array.from({ length: 120 }, (_, n) => `ep_${n}`);
  subjects.forEach(change);
  await Promise.all([tell(), tell()]);
  expect(told()).toEqual(subjects);
});
