import { join } from "node:path";
import Driver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../../src/database/migrations.generated.ts";
import { NO_PAGE, pageColumn } from "../../src/endpoints/own-page.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("forms of an earlier version whose own page is on keep it under their name, and others have no place in the line", () => {
  const connection = new Driver(join(temporaryFolder(), "formsvc.db"));
  onTestFinished(() => void connection.close());
  const number = migrations.findIndex(({ name }) => name.endsWith("-page-place.sql"));
  for (const { sql } of migrations.slice(0, number)) connection.exec(sql);
  connection.pragma("foreign_keys = OFF");
  const pages = {
    ep_1: pageColumn({ ...NO_PAGE, isOn: true, title: "Cakes" }),
    ep_2: pageColumn({ ...NO_PAGE, title: '"isOn":true' }),
    ep_3: null,
  };
  const insert = connection.prepare(
    `INSERT INTO endpoint (id, workspace_id, name, state, schema_version, allowed_origins, unknown_fields, store_address, created_at, page)
     VALUES (?, 'ws_1', 'Order', 'active', 1, '[]', 'drop', 'full', 1, ?)`,
  );
  for (const [id, page] of Object.entries(pages)) insert.run(id, page);
  connection.exec(migrations[number]!.sql);
  expect(connection.prepare("SELECT id, page_place FROM endpoint ORDER BY id").raw().all()).toEqual([
    ["ep_1", 0],
    ["ep_2", null],
    ["ep_3", null],
  ]);

  // As a server of an earlier version would have left them.
  connection.exec("UPDATE endpoint SET page_place = 7 WHERE id = 'ep_3'");
  insert.run("ep_4", pages.ep_1);
  for (const { sql } of migrations.slice(number + 1)) connection.exec(sql);
  expect(connection.prepare("SELECT id, page_place FROM endpoint ORDER BY id").raw().all()).toEqual([
    ["ep_1", 0],
    ["ep_2", null],
    ["ep_3", null],
    ["ep_4", 1],
  ]);
});
