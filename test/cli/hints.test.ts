import { expect, test } from "vitest";
import { describeFailure } from "../../src/cli/hints.ts";
import { insertEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
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
  expect(errorBody(refused)).toEqual({ error: "Not found", message: "there is no workspace Atlantis" });
});

test("a hint carries the values that its command needs", () => {
  const db = temporaryDatabase();
  const plans = { hobby: { monthlySubmissions: null, endpoints: 0, customSpam: false } };
  const made = { name: "Contact", definition: {}, settings: defaultEndpointSettings };
  const workspace = db.now(() => chooseWorkspace(null, 1));
  const refused = refusalOf(() => db.now(() => insertEndpoint(workspace, made, plans, 1)));
  expect(refused.facts.hint).toEqual({ kind: "upgrade_plan", workspaceId: workspace.id });
  expect(describeFailure(refused)).toMatch(
    new RegExp(`has them; upgrade with: formsvc workspace set-plan ${workspace.id} PLAN$`),
  );
});
