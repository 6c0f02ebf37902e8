import { expect, test } from "vitest";
import { type Config, defaultConfig } from "../../src/config/config.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite-database.ts";
import { systemClock } from "../../src/foundation/clock.ts";
import { createLog } from "../../src/foundation/log.ts";
import { listKeys } from "../../src/keys/key-store.ts";
import { startServer } from "../../src/server/start-server.ts";
import { sendRequest } from "../support/http-client.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { formOf } from "../support/page.ts";
import { changeBothWays } from "../support/same-change.ts";
import { openForTest } from "../support/temporary-database.ts";
import { visit, type Visitor } from "../support/visitor.ts";

/** A page and a command that make the same change leave the same rows. */

const config: Config = {
  ...defaultConfig,
  server: { ...defaultConfig.server, port: 0 },
  plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
};
const log = createLog("fatal", "json", () => ({ write: () => {} }));

/** Does something in the dashboard of a database, as its only account. */
async function inDashboard(db: SqliteDatabase, work: (owner: Visitor) => Promise<void>): Promise<void> {
  const running = await startServer({ db, config, clock: systemClock, log });
  const request = (made: Parameters<typeof sendRequest>[1]) => sendRequest(running.url, made);
  await work(await visit({ owner: db, clock: systemClock, request }, "owner@localhost"));
  await running.stop();
}

/** Sends a form of a page with these values. */
function sending(page: string, values: Record<string, string>, action = page, status = 303) {
  return async (owner: Visitor): Promise<void> => {
    const form = formOf((await owner.get(page)).text, action).values;
    for (const [name, value] of Object.entries(values)) form.set(name, value);
    expect((await owner.post(action, form)).status).toBe(status);
  };
}

/** The rows after both, without those of being signed in and of the record of who did what. */
async function bothWays(
  machine: ReturnType<typeof operatorMachine>,
  page: (owner: Visitor) => Promise<void>,
  command: readonly string[],
): Promise<{ page: string[]; command: string[] }> {
  const before = openForTest(machine.database);
  const rows = await changeBothWays(machine, before, (db) => inDashboard(db, page), command);
  const kept = (all: string[]) => all.filter((row) => !/^(?:session|audit_event) /.test(row));
  return { page: kept(rows.verb), command: kept(rows.command) };
}

async function withEndpoint() {
  const machine = operatorMachine();
  const made = await machine.createEndpoint({ name: "Contact" });
  return { machine, ...made, path: `/dashboard/endpoints/${made.id}` };
}

test("an endpoint is made by the page as by the command", async () => {
  const { machine } = await withEndpoint();
  const schema = {
    name: { type: "string", required: true },
    email: { type: "string", required: true, format: "email" },
    message: { type: "string" },
  };
  const file = machine.write("schema.json", schema);
  const path = "/dashboard/endpoints/new";
  const page = sending(path, { name: "News", action: "create" }, path, 201);
  const rows = await bothWays(machine, page, ["endpoint", "create", "--name", "News", "--schema", file]);
  expect(rows.page).toEqual(rows.command);
  expect(rows.page.filter((row) => row.startsWith("endpoint ") && row.includes("News"))).toHaveLength(1);
});

test("settings and fields are set, and an endpoint is paused and deleted, by the page as by the command", async () => {
  const { machine, id, path } = await withEndpoint();
  const values = {
    allowedOrigins: "https://example.com",
    keepDays: "9",
    honeypots: "fax",
    unknownFields: "keep",
  };
  const flags = [
    "--allow-origin",
    "https://example.com",
    "--keep-days",
    "9",
    "--honeypot",
    "fax",
    "--unknown-fields",
    "keep",
  ];
  const schema = machine.write("schema.json", { a: { type: "number", maximum: 3 } });
  const json = { action: "save", view: "json", schema: '{"a":{"type":"number","maximum":3}}' };
  const changes: [(owner: Visitor) => Promise<void>, string[]][] = [
    [sending(path, values), ["endpoint", "set", id, ...flags]],
    [sending(`${path}/fields`, json), ["schema", "set", id, schema]],
    [sending(path, { state: "paused" }, `${path}/state`), ["endpoint", "pause", id]],
    [sending(path, { confirm: "Contact" }, `${path}/delete`), ["endpoint", "delete", id, "--yes"]],
  ];
  for (const [page, command] of changes) {
    const rows = await bothWays(machine, page, command);
    expect(withoutVersion(rows.page)).toEqual(withoutVersion(rows.command));
  }
});

test("keys are issued, rotated and revoked by the page as by the command", async () => {
  const { machine, id, path } = await withEndpoint();
  const [key] = openForTest(machine.database).now(() => listKeys(id));
  const one = `${path}/keys/${key?.id}`;
  const changes: [(owner: Visitor) => Promise<void>, string[]][] = [
    [
      sending(`${path}/keys`, { kind: "secret" }, `${path}/keys`, 201),
      ["key", "issue", id, "--kind", "secret"],
    ],
    [sending(`${path}/keys`, { grace: "now" }, `${one}/rotate`, 201), ["key", "rotate", key?.id ?? ""]],
    [sending(`${path}/keys`, {}, `${one}/revoke`), ["key", "revoke", key?.id ?? ""]],
  ];
  for (const [page, command] of changes) {
    const rows = await bothWays(machine, page, command);
    expect(rows.page).toEqual(rows.command);
  }
});

test("spam settings are set by the page as by the command", async () => {
  const { machine, id } = await withEndpoint();
  const page = sending(`/dashboard/spam/endpoints/${id}`, {
    action: "save",
    maxLinks: "1",
    keywords: "casino = 40",
  });
  const rows = await bothWays(machine, page, [
    "spam",
    "set",
    "--endpoint",
    id,
    "--max-links",
    "1",
    "--keyword",
    "casino=40",
  ]);
  expect(rows.page).toEqual(rows.command);
  expect(rows.page.filter((row) => row.startsWith("endpoint_spam "))).toHaveLength(1);
});

/** How often settings were raised says nothing about what they are. */
function withoutVersion(rows: readonly string[]): string[] {
  return rows.filter((row) => !row.startsWith("settings_version "));
}
