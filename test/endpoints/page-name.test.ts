import { describe, expect, test } from "vitest";
import { insertEndpointRow } from "../../src/endpoints/endpoint-store.ts";
import { defaultEndpointSettings } from "../../src/endpoints/endpoint.ts";
import { NO_PAGE, type OwnPage, pageColumn } from "../../src/endpoints/own-page.ts";
import { findPageNamed } from "../../src/endpoints/page-name.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { NOON } from "../support/fake-clock.ts";
import { ENGINES, write } from "../support/engines.ts";
import { hasPostgresql, temporaryPostgresql } from "../support/temporary-postgresql.ts";
import { changeEndpoint, removeEndpoint } from "../support/terminal.ts";

const plans = { hobby: { monthlySubmissions: 250, endpoints: null, customSpam: false } };
const ON = { page: { ...NO_PAGE, isOn: true } };
const OFF = { page: NO_PAGE };

describe.each(ENGINES)("on $name", ({ temporary }) => {
  async function world() {
    const db = await temporary();
    const { workspace: ours } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    const { workspace: theirs } = await db.transaction(() => insertAccountRows("eve@example.org", NOON));
    const add = async (name: string, settings: object = ON, workspace = theirs): Promise<string> => {
      const made = { name, definition: exampleSchema, settings: { ...defaultEndpointSettings, ...settings } };
      return (await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON))).id;
    };
    const change = (id: string, what: Parameters<typeof changeEndpoint>[1]) =>
      db.transaction(() => changeEndpoint(id, what));
    const found = (name = "Order") => db.read(() => findPageNamed(name));
    return { db, ours, add, change, found };
  }

  test("nobody takes the name of a page away: not by a new form, an older one that is renamed, nor one that is switched on", async () => {
    const { ours, add, change, found } = await world();
    const [older, waiting] = [await add("Else"), await add("Order", OFF)];
    expect(await found()).toBeNull();
    const printed = await add("Order", ON, ours);
    expect(await found()).toBe(printed);
    await add("Order");
    await change(older, { name: "Order" });
    await change(waiting, { settings: ON });
    expect(await found()).toBe(printed);
    // Other settings, a pause and the own name again change nothing.
    await change(printed, { settings: { page: { ...ON.page, title: "Cakes" } }, name: "Order" });
    await change(printed, { state: "paused" });
    expect([await found(), await found("Else"), await found("order")]).toEqual([printed, null, null]);
  });

  test("whoever renames, switches off or deletes a form gives its name to the next in the line, and comes back behind the others", async () => {
    const { db, add, change, found } = await world();
    const [one, two, three] = [await add("Order"), await add("Order"), await add("Order")];
    await change(one, { name: "Cakes" });
    expect([await found(), await found("Cakes")]).toEqual([two, one]);
    await change(one, { name: "Order" });
    await change(two, { settings: OFF });
    expect(await found()).toBe(three);
    await change(two, { settings: ON });
    await removeEndpoint(db, three);
    expect(await found()).toBe(one);
    await removeEndpoint(db, one);
    expect(await found()).toBe(two);
  });
});

test.skipIf(!hasPostgresql)(
  "a server of an earlier version, which knows no places, takes no page away and leaves none without its address",
  async () => {
    const db = await temporaryPostgresql();
    const { workspace } = await db.transaction(() => insertAccountRows("ana@example.org", NOON));
    const add = async (name: string, settings: object): Promise<string> => {
      const made = { name, definition: exampleSchema, settings: { ...defaultEndpointSettings, ...settings } };
      return (await db.transaction(() => insertEndpointRow(workspace, made, plans, NOON))).id;
    };
    const found = (name = "Order") => db.read(() => findPageNamed(name));
    const as = (page: OwnPage): string => `page = '${pageColumn(page) ?? ""}'`;
    const older = (id: string, columns: string) =>
      write(db, `UPDATE endpoint SET ${columns} WHERE id = '${id}'`);
    const [other, waiting, made] = [await add("Else", ON), await add("Order", OFF), await add("Order", OFF)];
    const printed = await add("Order", ON);
    await older(other, "name = 'Order'");
    await older(waiting, as({ ...NO_PAGE, isOn: true }));
    expect([await found(), await found("Else")]).toEqual([printed, null]);
    await older(printed, as({ ...NO_PAGE, title: "Off" }));
    expect(await found()).toBe(other);
    await older(other, "name = 'Else'");
    expect([await found(), await found("Else")]).toEqual([waiting, other]);
    await write(
      db,
      `INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, created_at, page)
       SELECT 'ep_copy', workspace_id, 'Copy', state, schema_version, allowed_origins, unknown_fields, created_at, page
       FROM endpoint WHERE id = '${waiting}'`,
    );
    expect(await found("Copy")).toBe("ep_copy");
    await older(made, `${as({ ...NO_PAGE, isOn: true })}, name = 'Copy'`);
    expect(await found("Copy")).toBe("ep_copy");
  },
);
