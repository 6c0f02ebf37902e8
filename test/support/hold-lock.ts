import { openDatabase } from "../../src/database/sqlite/open-database.ts";

/** This process holds a database's write lock for the given number of milliseconds. */
const [, , path = "", ms = "0"] = process.argv;
const db = openDatabase(path, { busyTimeoutMs: 1000 });
db.execute("BEGIN IMMEDIATE");
process.send?.("held");
setTimeout(() => {
  db.execute("COMMIT");
  db.close();
  process.disconnect?.();
}, Number(ms));
