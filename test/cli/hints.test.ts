import { expect, test } from "vitest";
import { describeFailure, describeHint } from "../../src/cli/output/hints.ts";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import type { Hint } from "../../src/foundation/hint.ts";
import { errorBody } from "../../src/http/error-reply.ts";
import { chooseWorkspace, getWorkspace } from "../../src/workspaces/workspace-store.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

function refusalOf(work: () => unknown): FormsvcError {
  try {
    work();
  } catch (error) {
    if (error instanceof FormsvcError) return error;
  }
  throw new Error("nothing was refused");
}

test("an error's hint is a command at the terminal, and no part of an answer over HTTP", () => {
  const db = temporaryDatabase();
  const refused = refusalOf(() => db.now(() => getWorkspace("Atlantis")));
  expect(describeFailure(refused)).toBe("there is no workspace Atlantis; see: formsvc workspace list");
  expect(errorBody(refused, null)).toEqual({ error: "Not found", message: "there is no workspace Atlantis" });
});

test.each<[Hint, string]>([
  [
    { kind: "choose_free_port", listener: "server" },
    "stop what listens there, or choose another with --port",
  ],
  [{ kind: "choose_own_address", listener: "server" }, "choose another with --host"],
  [{ kind: "choose_high_port", listener: "metrics" }, "choose a port from 1024 on with metrics.listen"],
  [
    { kind: "choose_free_port", listener: "webhook_receiver" },
    "stop what listens there, or choose another with --port",
  ],
  [
    { kind: "name_foreign_file", what: "configuration", path: "/a/b" },
    "if it is the right one: --config /a/b",
  ],
  [{ kind: "stop_server" }, "stop it first, or use another --db"],
  [
    { kind: "vouch_for_accounts" },
    "see who is in doubt: formsvc account list; ask the holder of each address, then: formsvc account vouch EMAIL",
  ],
  [{ kind: "wait_or_keep_id" }, "let it be sent, or replay it without --as-new"],
])("the command line says the hint %o with its flags", (hint, words) => {
  expect(describeHint(hint)).toBe(words);
});

test("a hint carries the values that its command needs", () => {
  const db = temporaryDatabase();
  const plans = { hobby: { monthlySubmissions: null, endpoints: 0, customSpam: false } };
  const made = { name: "Contact", definition: {}, settings: defaultEndpointSettings };
  const workspace = db.now(() => chooseWorkspace(null, 1));
  const refused = refusalOf(() => db.now(() => insertEndpointRow(workspace, made, plans, 1)));
  expect(refused.facts.hint).toEqual({ kind: "upgrade_plan", workspaceId: workspace.id });
  expect(describeFailure(refused)).toMatch(
    new RegExp(
      `the workspace "owner" has them: delete one, or get a larger plan; upgrade with: formsvc workspace set-plan ${workspace.id} PLAN$`,
    ),
  );
});

test("an error without words of its own is told at the terminal as the others are: it begins small, without a full stop", () => {
  expect(describeFailure(new FormsvcError("database_busy"))).toBe(
    "another process holds the database; try again shortly",
  );
  const own = new FormsvcError("usage", "EDITOR is not set", { hint: { kind: "list_keys" } });
  expect(describeFailure(own)).toBe("EDITOR is not set; see: formsvc key list ENDPOINT");
});
