import { statSync } from "node:fs";
import type { Command } from "commander";
import { restoreBackup } from "../database/sqlite/restore.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { confirm } from "./arguments.ts";
import { addCommand, command } from "./command.ts";
import { readConfig, requireFile } from "./open.ts";

export function register(program: Command): void {
  addCommand(program, restore);
}

const restore = command({
  usage: "restore <file>",
  summary: "Replace the database by a backup, and keep the old one beside it; no server may run",
  options: [
    {
      flags: "--hold-webhooks",
      summary: "disable all webhooks and hold what the backup has as pending: it may have gone out since",
    },
    { flags: "--yes", summary: "do it without being asked" },
  ],
  examples: ["formsvc restore /var/backups/formsvc-2026-01-31.db --hold-webhooks --yes"],
  action: async (context, options, [file]) => {
    const { output } = context;
    const database = requireFile(
      readConfig(context).database,
      "to fill an empty PostgreSQL database: formsvc copy --to ADDRESS --db FILE",
    );
    if (statSync(database, { throwIfNoEntry: false })?.isFile() === true)
      await confirm(`Put ${file} in the place of ${database}?`, options.yes);
    const { holdWebhooks } = options;
    const restored = restoreBackup(file, database, {
      holdWebhooks,
      now: toIsoTime(context.clock.now()),
    });
    if (output.isJson) {
      const { version, submissions, replaced } = restored;
      const webhooks = {
        disabled_webhooks: restored.disabledWebhooks,
        held_deliveries: restored.heldDeliveries,
      };
      return output.json({ restored: { version, submissions, replaced, ...webhooks } });
    }
    output.note(`restored ${restored.submissions} submissions (schema ${restored.version})`);
    if (restored.replaced !== null) output.note(`what was there before is ${restored.replaced}`);
    if (holdWebhooks) {
      output.note(
        `webhooks disabled: ${restored.disabledWebhooks}, deliveries held: ${restored.heldDeliveries}; ` +
          "when they may go out: formsvc webhook list, then formsvc webhook enable WEBHOOK for each",
      );
    }
    return output.note("keys revoked since the backup work again: look at formsvc key list");
  },
});
