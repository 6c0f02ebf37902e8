import { describe, expect, test } from "vitest";
import { type Database, query } from "../../src/database/database.ts";
import { run } from "../../src/database/steps.ts";
import { NO_PAGE } from "../../src/endpoints/own-page.ts";
import { NO_CHALLENGE } from "../../src/endpoints/challenge.ts";
import { createEndpointDirectory } from "../../src/endpoints/endpoint-directory.ts";
import {
  getEndpoint,
  insertEndpointRow,
  listEndpoints,
  readSchema,
} from "../../src/endpoints/endpoint-store.ts";
import {
  defaultEndpointSettings,
  type Endpoint,
  type EndpointSettings,
} from "../../src/endpoints/endpoint.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows, listAccounts, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import type { Workspace } from "../../src/workspaces/workspace.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { changeEndpoint, changeSchema, makeEndpoint, removeEndpoint } from "../support/terminal.ts";

const plans = { hobby: { monthlySubmissions: 250, endpoints: 3, customSpam: false } };

const made = { name: "Contact", definition: exampleSchema, settings: defaultEndpointSettings };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  interface Bench {
    readonly db: Database;
    readonly workspace: Workspace;
    readonly add: (name: string, settings?: Partial<EndpointSettings>) => Promise<Endpoint>;
  }

  async function bench(): Promise<Bench> {
    const db = await temporary();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    return {
      db,
      workspace,
      add: (name, settings = {}) =>
        db.transaction(() =>
          insertEndpointRow(
            workspace,
            { name, definition: exampleSchema, settings: { ...defaultEndpointSettings, ...settings } },
            plans,
            NOON,
          ),
        ),
    };
  }

  describe("creating", () => {
    test("on an empty database makes the account, its Hobby workspace, the endpoint and both keys", async () => {
      const db = await temporary();
      const { endpoint, secret, publishable } = await makeEndpoint(db, made, {
        workspace: null,
        plans,
        now: NOON,
      });
      expect(await db.transaction(() => listAccounts())).toHaveLength(1);
      expect(await db.transaction(() => listWorkspaces())).toMatchObject([
        { id: endpoint.workspaceId, plan: "hobby" },
      ]);
      expect(endpoint).toMatchObject({ name: "Contact", state: "active", schemaVersion: 1, createdAt: NOON });
      expect(endpoint.id).toMatch(/^ep_[0-9a-z]{26}$/);
      expect([secret.key.endpointId, publishable.key.endpointId]).toEqual([endpoint.id, endpoint.id]);
      expect([secret.text.slice(0, 4), publishable.text.slice(0, 4)]).toEqual(["fsk_", "fpk_"]);
    });

    test("beyond the plan's limit is refused by the plan, and leaves no key behind", async () => {
      const { db, add } = await bench();
      for (const name of ["a", "b", "c"]) await add(name);
      await expect(makeEndpoint(db, made, { workspace: null, plans, now: NOON })).rejects.toMatchObject({
        code: "plan_limit",
      });
      expect(await db.transaction(() => listEndpoints(null))).toHaveLength(3);
      expect(await rowsOf(db, "SELECT 1 FROM api_key")).toEqual([]);
      await removeEndpoint(db, "a");
      expect((await makeEndpoint(db, made, { workspace: null, plans, now: NOON })).endpoint.name).toBe(
        "Contact",
      );
    });

    test("with a plan that the configuration does not have is a wrong configuration", async () => {
      const { db, workspace } = await bench();
      await expect(db.transaction(() => insertEndpointRow(workspace, made, {}, NOON))).rejects.toThrow(
        expect.objectContaining({ code: "config_invalid" }) as Error,
      );
    });

    test.each(["", "   ", "a\nb", "a\u0000", "x".repeat(201)])(
      "under the name %j is refused",
      async (name) => {
        const { add } = await bench();
        await expect(add(name)).rejects.toThrow(expect.objectContaining({ code: "usage" }) as Error);
      },
    );
  });

  describe("finding", () => {
    test("takes an id, or a unique name", async () => {
      const { db, add } = await bench();
      const one = await add("One");
      await add("Twice");
      await add("Twice");
      expect(await db.transaction(() => getEndpoint("One"))).toEqual(one);
      expect(await db.transaction(() => getEndpoint(one.id))).toEqual(one);
      await expect(db.transaction(() => getEndpoint("Twice"))).rejects.toThrow(
        expect.objectContaining({ code: "ambiguous" }) as Error,
      );
      for (const nobody of ["None", "ep_00000000000000000000000000", ""]) {
        await expect(db.transaction(() => getEndpoint(nobody))).rejects.toThrow(
          expect.objectContaining({ code: "not_found" }) as Error,
        );
      }
    });

    test("takes WORKSPACE/NAME, split at the first slash, but a whole name that is unique comes first", async () => {
      const { db, workspace, add } = await bench();
      const sales = await add("Contact/Sales");
      const find = (reference: string, within: string | null = null) =>
        db.transaction(() => getEndpoint(reference, within));
      for (const reference of ["Contact/Sales", "ana/Contact/Sales", `${workspace.id}/Contact/Sales`])
        expect(await find(reference), reference).toEqual(sales);
      expect(await find(`ana/${sales.id}`)).toEqual(sales);
      for (const nothing of ["/Contact/Sales", "ana/", "ana/Sales", "bob/Contact/Sales"])
        await expect(find(nothing), nothing).rejects.toMatchObject({ code: "not_found" });
      await expect(find("ana/Contact/Sales", "ana")).rejects.toMatchObject({ code: "not_found" });
      const twin = await add("Contact/Sales");
      for (const unclear of ["Contact/Sales", "ana/Contact/Sales"])
        await expect(find(unclear)).rejects.toMatchObject({
          code: "ambiguous",
          message: expect.stringContaining(
            `${sales.id} (workspace ana), ${twin.id} (workspace ana)`,
          ) as string,
        });
    });
  });

  describe("settings", () => {
    test("are kept as they were given, in their one spelling and without doubles", async () => {
      const { db, add } = await bench();
      const { id } = await add("a", {
        allowedOrigins: ["HTTPS://Example.com/", "https://example.com"],
        honeypots: ["website", "website"],
        successUrl: "https://example.com/danke schön",
        language: "de",
      });
      expect((await db.transaction(() => getEndpoint(id))).settings).toEqual({
        allowedOrigins: ["https://example.com"],
        unknownFields: "set-aside",
        honeypots: ["website"],
        successUrl: "https://example.com/danke%20sch%C3%B6n",
        errorUrl: null,
        language: "de",
        keepDays: null,
        storeAddress: "full",
        page: { isOn: false, title: null, intro: null, logo: null, colour: null, thanks: null },
        challenge: NO_CHALLENGE,
      });
    });

    test("leave no page of the form's own without the task that its posts need, whichever is changed last", async () => {
      const { db, add } = await bench();
      const page = { ...NO_PAGE, isOn: true };
      const asked = { kind: "hcaptcha", isRequired: true, siteKey: null } as const;
      const proof = { ...asked, kind: "pow" } as const;
      const unnamed = /cannot show the task of hcaptcha without its site key/;
      await expect(add("a", { page, challenge: asked })).rejects.toThrow(unnamed);
      const { id } = await add("a");
      const set = (settings: Partial<EndpointSettings>) =>
        db.transaction(() => changeEndpoint(id, { settings }));
      for (const [first, last] of [
        [{ page: NO_PAGE, challenge: asked }, { page }],
        [{ page, challenge: { ...asked, isRequired: false } }, { challenge: asked }],
        [{ page, challenge: proof }, { challenge: asked }],
        [{ page, challenge: { ...asked, siteKey: "0x4" } }, { challenge: asked }],
      ]) {
        await set(first ?? {});
        await expect(set(last ?? {}), JSON.stringify(first)).rejects.toThrow(unnamed);
        expect(await db.read(() => getEndpoint(id))).toMatchObject({ settings: first });
      }
      await write(db, `UPDATE endpoint SET challenge = '${JSON.stringify(asked)}'`);
      expect(await db.transaction(() => changeEndpoint(id, { state: "paused" }))).toMatchObject({
        state: "paused",
        settings: { page, challenge: asked },
      });
      await set({ challenge: { ...asked, siteKey: "0x4" } });
    });

    test("that are not named stay, and others' change is seen by its version", async () => {
      const { db, add } = await bench();
      const { id } = await add("a", { honeypots: ["website"] });
      const version = () => rowsOf<{ version: number }>(db, "SELECT version FROM settings_version");
      const [before] = await version();
      await db.transaction(() => changeEndpoint(id, { settings: { unknownFields: "keep" } }));
      expect((await db.transaction(() => getEndpoint(id))).settings).toMatchObject({
        honeypots: ["website"],
        unknownFields: "keep",
      });
      expect((await version())[0]?.version).toBeGreaterThan(before?.version ?? Infinity);
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
    ])("with %s are refused and change nothing", async (_, settings) => {
      const { db, add } = await bench();
      const { id } = await add("a");
      await expect(db.transaction(() => changeEndpoint(id, { name: "b", settings }))).rejects.toThrow(
        expect.objectContaining({ code: "usage" }) as Error,
      );
      expect((await db.transaction(() => getEndpoint(id))).name).toBe("a");
    });
  });

  test("of a schema the last hundred versions are kept", async () => {
    const { db, add } = await bench();
    const [changed, other] = [await add("Contact"), await add("Other")];
    for (let version = 2; version <= 103; version += 1)
      await db.transaction(() => changeSchema(changed.id, { [`f${version}`]: { type: "string" } }, NOON));
    const kept = `SELECT min(version) AS first, max(version) AS last, count(*) AS versions FROM endpoint_schema WHERE endpoint_id`;
    expect(await rowsOf(db, `${kept} = '${changed.id}'`)).toEqual([{ first: 4, last: 103, versions: 100 }]);
    expect(await rowsOf(db, `${kept} = '${other.id}'`)).toEqual([{ first: 1, last: 1, versions: 1 }]);
    const current = await db.read(() => getEndpoint(changed.id));
    expect(await db.read(() => readSchema(current))).toEqual({ f103: { type: "string" } });
  });

  test("each schema is a version of its own, and the latest one is in force", async () => {
    const { db, add } = await bench();
    const { id } = await add("a");
    await db.transaction(() => changeSchema(id, { phone: { type: "string" } }, NOON));
    const latest = await db.transaction(() => getEndpoint(id));
    expect(await db.transaction(() => readSchema(latest))).toEqual({ phone: { type: "string" } });
    expect(await rowsOf(db, "SELECT version FROM endpoint_schema ORDER BY version")).toEqual([
      { version: 1 },
      { version: 2 },
    ]);
  });

  test("deleting takes keys, schemas, submissions and idempotency keys along, and leaves the usage that was counted", async () => {
    const { db, add, workspace } = await bench();
    const { id } = await add("a");
    const hash = Buffer.alloc(32);
    const remembered = { endpoint_id: id, kind: "secret", key_hash: hash, body_hash: hash } as const;
    await write(
      db,
      `INSERT INTO api_key VALUES ('key_1', '${id}', 'secret', 'lookup', 'hash', 1, NULL, NULL, 0, NULL)`,
      `INSERT INTO usage VALUES ('${workspace.id}', '2026-06', 1)`,
    );
    await db.transaction(() =>
      run(query.insertInto("idempotency").values({ ...remembered, submission_id: "sub_1", created_at: 1 })),
    );
    await storeSubmissions(db, [{ id: "sub_1", endpointId: id }]);
    await removeEndpoint(db, id);
    for (const table of ["endpoint", "endpoint_schema", "api_key", "submission", "idempotency"])
      expect(await rowsOf(db, `SELECT * FROM ${table}`), table).toEqual([]);
    expect(await rowsOf(db, "SELECT used FROM usage")).toEqual([{ used: 1 }]);
  });
});

test("the directory keeps an endpoint until it is told to forget, and knows no deleted one then", async () => {
  const db = temporaryDatabase();
  const {
    endpoint: { id },
  } = await makeEndpoint(db, made, { workspace: null, plans, now: NOON });
  const directory = createEndpointDirectory(db, { plans, defaults: defaultSpamSettings(5) });
  const first = await directory.find(id);
  await db.transaction(() => changeEndpoint(id, { state: "paused" }));
  expect(directory.recall(id)).toBe(first);
  expect(await directory.find(id)).toBe(first);
  directory.forget(null);
  expect((await directory.find(id))?.endpoint.state).toBe("paused");
  await removeEndpoint(db, id);
  directory.forget(null);
  expect(await directory.find(id)).toBeUndefined();
});
