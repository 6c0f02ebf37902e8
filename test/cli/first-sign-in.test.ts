import { expect, test } from "vitest";
import { offerFirstSignIn } from "../../src/cli/commands/first-sign-in.ts";
import { createOutput } from "../../src/cli/output/output.ts";
import { defaultConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { openForTest, temporaryDatabase } from "../support/temporary-database.ts";

/** Offers a link on a database whose statements wait 10 ms, as those of a server do. `notes` has what is printed. */
function arrange() {
  const db = temporaryDatabase(10);
  const notes: string[] = [];
  const output = {
    ...createOutput({ json: false, quiet: true }),
    note: (text: string) => void notes.push(text),
  };
  const context = {
    output,
    clock: systemClock,
    configFile: null,
    databasePath: null,
    server: null,
    contextsProblem: null,
  };
  const offer = () => offerFirstSignIn(db, defaultConfig, context, "http://127.0.0.1:8787");
  return { db, notes, offer };
}

test("the link for the first sign-in is made when another process has ended its write", async () => {
  const { db, notes, offer } = arrange();
  const other = openForTest(db.path);
  other.execute("BEGIN IMMEDIATE");
  const offered = offer();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(notes).toEqual([]);
  other.execute("COMMIT");
  await offered;
  expect(notes.join("")).toContain("http://127.0.0.1:8787/dashboard/sign-in#");
});

test("a link for the first sign-in that cannot be made ends nothing, and how to make one is said", async () => {
  const { db, notes, offer } = arrange();
  db.reportLost(new Error("no disk"));
  await offer();
  expect(notes).toEqual([expect.stringContaining("make one with: formsvc account sign-in-link EMAIL")]);
});
