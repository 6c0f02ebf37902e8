import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { emptyMachine } from "../support/operator-machine.ts";
import { FORMSVC, hasScript, onTerminal } from "../support/shell.ts";

const LINK = /http:\/\/127\.0\.0\.1:\d+\/dashboard\/sign-in#\S+/g;
const COLOUR = "\u001b[";

test.skipIf(!hasScript)(
  "on a terminal, serve logs for people, in colour unless NO_COLOR is set, and prints one link while nobody can sign in to the dashboard, which a log that goes elsewhere never has",
  async () => {
    const machine = emptyMachine();
    const serve = `${FORMSVC} serve --port 0`;
    /** Ends by Ctrl-C, which is taken when what follows the start has been printed. */
    const served = async (line: string): Promise<string> => {
      const { code, stdout } = await onTerminal(machine, line, "\u0003", "listening on");
      expect(code).toBe(0);
      return stdout;
    };
    const first = await served(`exec ${serve}`);
    expect(first).toContain(COLOUR);
    expect(first.match(LINK)).toHaveLength(1);
    expect(first).toContain("sets the password of owner@localhost");
    const database = machine.open();
    expect(database.prepare("SELECT email FROM account").pluck().all()).toEqual(["owner@localhost"]);

    // The log goes to a file, and what goes there is shown here by another program.
    const elsewhere = await served(`trap : INT; ${serve} | tee -i log`);
    expect(elsewhere).not.toContain("sign-in#");
    expect(readFileSync(machine.path("log"), "utf8")).toContain("dashboard.no-password");
    expect(readFileSync(machine.path("log"), "utf8")).not.toContain("sign-in#");

    database
      .prepare(
        "INSERT INTO credential (account_id, password_hash, changed_at) SELECT id, 'x', 1 FROM account",
      )
      .run();
    const coloured = await served(`exec env NO_COLOR= ${serve}`);
    expect(coloured).toContain(COLOUR);
    expect(coloured).not.toContain("sign-in#");
    const plain = await served(`exec env NO_COLOR=1 ${serve}`);
    expect(plain).toContain("listening on http://127.0.0.1:");
    expect(plain).not.toContain(COLOUR);
    expect(plain).not.toContain('{"level"');
  },
);
