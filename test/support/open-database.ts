import { openMigrated } from "../../src/app/open-migrated.ts";
import { defaultConfig } from "../../src/config/config.ts";

/** This process opens a database when it gets a message, and reports how many migrations it ran. */
const path = process.argv[2] ?? "";
process.send?.("ready");
process.once("message", () => {
  try {
    const { db, migrated } = openMigrated(
      { ...defaultConfig, database: { ...defaultConfig.database, path } },
      10,
    );
    process.send?.({ applied: migrated.pending.length });
    db.close();
  } catch (error) {
    process.send?.({ error: String(error) });
  }
  process.disconnect?.();
});
