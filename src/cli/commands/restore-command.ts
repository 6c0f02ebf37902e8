import { statSync } from "node:fs";
import type { Command } from "commander";
import { findBackup, restoreBackup, type Restored } from "../../database/sqlite/restore.ts";
import { countOf } from "../../foundation/count-of.ts";
import { toIsoTime } from "../../foundation/clock.ts";
import { confirm, yesOption } from "../flags/arguments.ts";
import { addCommand, command } from "../command.ts";
import { readConfig, requireFile } from "../open.ts";
import { noteOutside } from "../output/note-outside.ts";

export function register(program: Command): void {
  addCommand(program, restore);
}

const restore = command({
  usage: "restore <file>",
  summary: "Replace the database by a backup, and keep the old one beside it; no server may run",
  options: [
    {
      flags: "--hold-webhooks",
      summary:
        "disable all webhooks and recipients of e-mail, and hold the messages that wait in the backup: they may have been sent since",
    },
    yesOption,
  ],
  examples: ["formsvc restore /var/backups/formsvc-2026-01-31.db --hold-webhooks --yes"],
  action: async (context, options, [file]) => {
    const { output } = context;
    const database = requireFile(
      readConfig(context).database,
      "to fill an empty PostgreSQL database: formsvc copy --to ADDRESS --db FILE",
    );
    findBackup(file, database);
    if (statSync(database, { throwIfNoEntry: false })?.isFile() === true)
      await confirm(`Put ${file} in the place of ${database}?`, options.yes);
    const { holdWebhooks } = options;
    const restored = restoreBackup(file, database, {
      holdWebhooks,
      now: toIsoTime(context.clock.now()),
    });
    if (output.isJson) {
      const { version, submissions, replaced } = restored;
      const messages = {
        disabled_webhooks: restored.disabledWebhooks,
        disabled_mail_recipients: restored.disabledMailRecipients,
        held_deliveries: restored.heldDeliveries,
        dropped_replies: restored.droppedReplies,
      };
      return output.json({ restored: { version, submissions, replaced, ...messages } });
    }
    noteOutside(output, restored.outsideFiles);
    output.note(`restored ${countOf(restored.submissions, "submission")} (schema ${restored.version})`);
    if (restored.replaced !== null) output.note(`what was there before is ${restored.replaced}`);
    if (holdWebhooks) for (const note of describeHeldBack(restored)) output.note(note);
    if (restored.droppedReplies > 0) {
      output.note(
        `automatic replies that may have gone out since the backup, and are not sent again: ${restored.droppedReplies}`,
      );
    }
    return output.note("keys revoked since the backup work again: look at formsvc key list");
  },
});

function describeHeldBack({ disabledWebhooks, disabledMailRecipients, heldDeliveries }: Restored): string[] {
  const webhooks = "formsvc webhook list, then formsvc webhook enable WEBHOOK for each";
  const mail = "formsvc recipient list, then formsvc recipient enable RECIPIENT for each";
  return [
    `webhooks disabled: ${disabledWebhooks}, recipients of e-mail disabled: ${disabledMailRecipients}, deliveries held: ${heldDeliveries}`,
    ...(disabledWebhooks > 0 ? [`when webhooks may be sent to again: ${webhooks}`] : []),
    ...(disabledMailRecipients > 0 ? [`when e-mail may go out again: ${mail}`] : []),
  ];
}
