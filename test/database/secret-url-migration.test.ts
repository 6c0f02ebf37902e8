import { join } from "node:path";
import Driver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../../src/database/migrations.generated.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the address of a chat of an earlier version becomes a secret, and other addresses stay as they are", () => {
  const connection = new Driver(join(temporaryFolder(), "formsvc.db"));
  onTestFinished(() => void connection.close());
  const number = migrations.findIndex(({ name }) => name.endsWith("-secret-url.sql"));
  for (const { sql } of migrations.slice(0, number)) connection.exec(sql);
  connection.pragma("foreign_keys = OFF");
  const addresses = {
    wh_1: ["standard", "https://example.com/hooks/a"],
    wh_2: ["slack", "https://hooks.slack.com/services/T0/B0/hiddenABCD"],
    wh_3: ["telegram", "http://127.0.0.1:8080/bot1:secret/sendMessage?chat_id=-1007"],
  } as const;
  const insert = connection.prepare(
    "INSERT INTO webhook (id, url, headers, allow_private, format) VALUES (?, ?, '{}', 0, ?)",
  );
  for (const [id, [format, url]] of Object.entries(addresses)) insert.run(id, url, format);
  connection.exec(migrations[number]!.sql);
  const rows = connection
    .prepare("SELECT url, CAST(secret_url AS TEXT) FROM webhook ORDER BY id")
    .raw()
    .all();
  expect(rows).toEqual([
    [addresses.wh_1[1], null],
    ["https://hooks.slack.com/…ABCD", addresses.wh_2[1]],
    ["http://127.0.0.1:8080/…1007", addresses.wh_3[1]],
  ]);
});
