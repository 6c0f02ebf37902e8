import { expect, test } from "vitest";
import { OPERATIONS } from "../../src/api/all-operations.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { ruleOf } from "../../src/operations/access.ts";
import { hasSecrets } from "../../src/operations/marks.ts";
import type { AnyOperation } from "../../src/operations/operation.ts";

test("an operation has one address or none, an address one operation for each method, and no token does what is local", () => {
  const names = OPERATIONS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  const places = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  for (const { operation } of ROUTES) expect(ruleOf(operation.access).scopes, operation.name).not.toBeNull();
});

test("what a path names is an input of its operation and of the one that shows it, and reads are GET", () => {
  for (const { operation, method, path, shownBy, status } of ROUTES) {
    const named = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
    for (const each of [operation, ...(shownBy === null ? [] : [shownBy])])
      for (const name of named) expect(Object.keys(each.input.shape), `${path} ${each.name}`).toContain(name);
    // Old held posts go when one is shown, so it is no read of one state.
    if (named.length > 0 && !path.startsWith("/held/")) expect(shownBy, path).not.toBeNull();
    if (method === "GET") expect(["read", "stream"], path).toContain(operation.kind);
    if (status === 204) expect(method, path).toBe("DELETE");
  }
});

test("what is done with a row has an address below it, under the verb in the operation's name", () => {
  const places = ROUTES.map(({ method, path, operation }) => `${operation.name}: ${method} ${path}`);
  expect(places).toEqual(
    expect.arrayContaining([
      "endpoint.allow-origin: POST /endpoints/:endpoint/allow-origin",
      "key.revoke: POST /keys/:key/revoke",
      "webhook.rotate-secret: POST /webhooks/:webhook/rotate-secret",
      "recipient.ask: POST /recipients/:recipient/ask",
      "workspace.transfer: POST /workspaces/:workspace/transfer",
      "account.end-sessions: POST /accounts/:account/end-sessions",
    ]),
  );
});

/** The members of an output, like `key.id`. */
function membersOf(operation: AnyOperation): readonly string[] {
  const names: string[] = [];
  const look = (type: unknown, path: string): void => {
    const shape = (type as { readonly shape?: Record<string, unknown> }).shape ?? {};
    for (const [name, each] of Object.entries(shape)) {
      names.push(`${path}${name}`);
      look(each, `${path}${name}.`);
    }
  };
  look(operation.output, "");
  return names;
}

test("what is shown once is marked as such, so that no repeated answer and no table has it", () => {
  for (const operation of OPERATIONS) {
    // The link of an invitation has its token.
    const isLink = operation.name === "member.invite";
    const suspicious = membersOf(operation).filter(
      (name) => /(?:^|\.)(?:secret|publishable)$/.test(name) || (isLink && name === "url"),
    );
    expect(
      hasSecrets(operation.output),
      `${operation.name}: ${suspicious.join()}; mark it with shownOnce`,
    ).toBe(suspicious.length > 0);
  }
});
