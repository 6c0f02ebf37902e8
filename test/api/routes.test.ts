import { expect, test } from "vitest";
import { LOCAL_OPERATIONS, ROUTES } from "../../src/api/routes.ts";
import { OPERATIONS } from "../../src/app/operations.ts";
import { ruleOf } from "../../src/operations/access.ts";
import { hasSecrets } from "../../src/operations/marks.ts";
import type { AnyOperation } from "../../src/operations/operation.ts";

test("every operation has an address of the API, or a reason why it has none", () => {
  const routed = new Set(ROUTES.map(({ operation }) => operation.name));
  const missing = OPERATIONS.filter(
    ({ name }) => !routed.has(name) && !Object.hasOwn(LOCAL_OPERATIONS, name),
  );
  expect(
    missing.map(
      ({ name }) =>
        `${name}: add its method and path to ROUTES in src/api/routes.ts, or its reason to LOCAL_OPERATIONS there`,
    ),
  ).toEqual([]);
  const known = new Set(OPERATIONS.map(({ name }) => name as string));
  expect(
    Object.keys(LOCAL_OPERATIONS).filter((name) => !known.has(name) || routed.has(name as never)),
  ).toEqual([]);
});

test("an operation has one address, an address one operation for each method, and no token does what is local", () => {
  const names = ROUTES.map(({ operation }) => operation.name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  const places = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  for (const { name, access } of OPERATIONS)
    if (ruleOf(access).scopes === null) expect(Object.keys(LOCAL_OPERATIONS), name).toContain(name);
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
