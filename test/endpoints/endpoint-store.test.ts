import { describe, expect, test } from "vitest";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { createEndpoint } from "../../src/endpoints/create-endpoint.ts";
import { ENDPOINT_CONTENTS } from "../../src/app.ts";
import { deleteEndpoint } from "../../src/endpoints/delete-endpoint.ts";
import { createEndpointDirectory } from "../../src/endpoints/endpoint-directory.ts";
import {
  changeSchema,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  readSchema,
  updateEndpoint,
} from "../../src/endpoints/endpoint-store.ts";
import {
  defaultEndpointSettings,
  type Endpoint,
  type EndpointSettings,
} from "../../src/endpoints/endpoint.ts";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { createAccount, listAccounts, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import type { Workspace } from "../../src/workspaces/workspace.ts";
import { addSubmission } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const plans = { hobby: { monthlySubmissions: 250, endpoints: 3, customSpam: false } };

const noPause = (): Promise<void> => Promise.resolve();

interface Bench {
  readonly db: SqliteDatabase;
  readonly workspace: Workspace;
  readonly add: (name: string, settings?: Partial<EndpointSettings>) => Endpoint;
}

function bench(): Bench {
  const db = temporaryDatabase();
  const { workspace } = db.now(() => createAccount("ana@example.org", NOON));
  return {
    db,
    workspace,
    add: (name, settings = {}) =>
      db.now(() =>
        insertEndpoint(
          workspace,
          { name, definition: exampleSchema, settings: { ...defaultEndpointSettings, ...settings } },
          plans,
          NOON,
        ),
      ),
  };
}

const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };

describe("creating", () => {
  test("on an empty database makes the account, its Hobby workspace, the endpoint and both keys", async () => {
    const db = temporaryDatabase();
    const { endpoint, secret, publishable } = await createEndpoint(db, made, {
      workspace: null,
      plans,
      now: NOON,
    });
    expect(db.now(() => listAccounts())).toHaveLength(1);
    expect(db.now(() => listWorkspaces())).toMatchObject([{ id: endpoint.workspaceId, plan: "hobby" }]);
    expect(endpoint).toMatchObject({ name: "Contact", state: "active", schemaVersion: 1, createdAt: NOON });
    expect(endpoint.id).toMatch(/^ep_[0-9a-z]{26}$/);
    expect([secret.key.endpointId, publishable.key.endpointId]).toEqual([endpoint.id, endpoint.id]);
    expect([secret.text.slice(0, 4), publishable.text.slice(0, 4)]).toEqual(["fsk_", "fpk_"]);
  });

  test("beyond the plan's limit is refused by the plan, and leaves no key behind", async () => {
    const { db, add } = bench();
    for (const name of ["a", "b", "c"]) add(name);
    await expect(createEndpoint(db, made, { workspace: null, plans, now: NOON })).rejects.toMatchObject({
      code: "plan_limit",
    });
    expect(db.now(() => listEndpoints(null))).toHaveLength(3);
    expect(db.prepare("SELECT count(*) FROM api_key").pluck().get()).toBe(0);
    await deleteEndpoint(db, "a", ENDPOINT_CONTENTS, noPause);
    expect((await createEndpoint(db, made, { workspace: null, plans, now: NOON })).endpoint.name).toBe(
      "Contact",
    );
  });

  test("with a plan that the configuration does not have is a wrong configuration", () => {
    const { db, workspace } = bench();
    expect(() => db.now(() => insertEndpoint(workspace, made, {}, NOON))).toThrow(
      expect.objectContaining({ code: "config_invalid" }) as Error,
    );
  });

  test.each(["", "   ", "a\nb", "a\u0000", "x".repeat(201)])("under the name %j is refused", (name) => {
    expect(() => bench().add(name)).toThrow(expect.objectContaining({ code: "usage" }) as Error);
  });
});

describe("finding", () => {
  test("takes an id, or a unique name", () => {
    const { db, add } = bench();
    const one = add("One");
    add("Twice");
    add("Twice");
    expect(db.now(() => getEndpoint("One"))).toEqual(one);
    expect(db.now(() => getEndpoint(one.id))).toEqual(one);
    expect(() => db.now(() => getEndpoint("Twice"))).toThrow(
      expect.objectContaining({ code: "ambiguous" }) as Error,
    );
    for (const nobody of ["None", "ep_00000000000000000000000000", ""]) {
      expect(() => db.now(() => getEndpoint(nobody))).toThrow(
        expect.objectContaining({ code: "not_found" }) as Error,
      );
    }
  });
});

describe("settings", () => {
  test("are kept as they were given, in their one spelling and without doubles", () => {
    const { db, add } = bench();
    const { id } = add("a", {
      allowedOrigins: ["HTTPS://Example.com/", "https://example.com"],
      honeypots: ["website", "website"],
      successUrl: "https://example.com/danke schön",
    });
    expect(db.now(() => getEndpoint(id)).settings).toEqual({
      allowedOrigins: ["https://example.com"],
      unknownFields: "drop",
      honeypots: ["website"],
      successUrl: "https://example.com/danke%20sch%C3%B6n",
      errorUrl: null,
      keepDays: null,
      storeAddress: "full",
    });
  });

  test("that are not named stay, and others' change is seen by its version", () => {
    const { db, add } = bench();
    const { id } = add("a", { honeypots: ["website"] });
    const version = () => Number(db.prepare("SELECT version FROM settings_version").pluck().get());
    const before = version();
    db.now(() => updateEndpoint(id, { settings: { unknownFields: "keep" } }));
    expect(db.now(() => getEndpoint(id)).settings).toMatchObject({
      honeypots: ["website"],
      unknownFields: "keep",
    });
    expect(version()).toBeGreaterThan(before);
  });

  test.each<[string, Partial<EndpointSettings>]>([
    ["an origin that is none", { allowedOrigins: ["example.com"] }],
    [
      "too many origins",
      { allowedOrigins: Array.from({ length: 101 }, (_, index) => `https://a${index}.example`) },
    ],
    ["an empty honeypot", { honeypots: [""] }],
    ["the honeypot __proto__", { honeypots: ["__proto__"] }],
    ["the honeypot _elapsed_ms", { honeypots: ["_elapsed_ms"] }],
    ["a long honeypot", { honeypots: ["x".repeat(101)] }],
    ["too many honeypots", { honeypots: Array.from({ length: 21 }, (_, index) => `h${index}`) }],
    ["a page that is a script", { successUrl: "javascript:alert(1)" }],
    ["a page without a scheme", { errorUrl: "example.com" }],
    ["a long page", { successUrl: `https://example.com/${"x".repeat(2000)}` }],
  ])("with %s are refused and change nothing", (_, settings) => {
    const { db, add } = bench();
    const { id } = add("a");
    expect(() => db.now(() => updateEndpoint(id, { name: "b", settings }))).toThrow(
      expect.objectContaining({ code: "usage" }) as Error,
    );
    expect(db.now(() => getEndpoint(id)).name).toBe("a");
  });
});

test("each schema is a version of its own, and the latest one is in force", () => {
  const { db, add } = bench();
  const { id } = add("a");
  db.now(() => changeSchema(id, { phone: { type: "string" } }, NOON));
  expect(db.now(() => readSchema(db.now(() => getEndpoint(id))))).toEqual({ phone: { type: "string" } });
  expect(db.prepare("SELECT version FROM endpoint_schema").pluck().all()).toEqual([1, 2]);
});

test("deleting takes keys, schemas, submissions and idempotency keys along, and leaves the usage that was counted", async () => {
  const { db, add, workspace } = bench();
  const { id } = add("a");
  db.execute(`
    INSERT INTO api_key VALUES ('key_1', '${id}', 'secret', 'lookup', 'hash', 1, NULL, NULL, 0);
    INSERT INTO idempotency VALUES ('${id}', 'secret', x'00', x'00', 'sub_1', 1);
    INSERT INTO usage VALUES ('${workspace.id}', '2026-06', 1);
  `);
  addSubmission(db, { id: "sub_1", endpointId: id });
  await deleteEndpoint(db, id, ENDPOINT_CONTENTS, noPause);
  const counts = ["endpoint", "endpoint_schema", "api_key", "submission", "idempotency", "usage"].map(
    (table) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  );
  expect(counts).toEqual([0, 0, 0, 0, 0, 1]);
});

test("the directory keeps an endpoint until it is told to forget, and knows no deleted one then", async () => {
  const { db, add } = bench();
  const { id } = add("a");
  const directory = createEndpointDirectory(db, plans);
  const first = directory.get(id);
  db.now(() => updateEndpoint(id, { state: "paused" }));
  expect(directory.get(id)).toBe(first);
  directory.forget();
  expect(directory.get(id)?.endpoint.state).toBe("paused");
  await deleteEndpoint(db, id, ENDPOINT_CONTENTS, noPause);
  directory.forget();
  expect(directory.get(id)).toBeUndefined();
});
