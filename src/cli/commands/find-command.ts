import type { z } from "zod";
import { FormsvcError } from "../../foundation/errors.ts";
import { erasePersonRecords, findPersonRecords } from "../../submissions/manage/person-operations.ts";
import { confirm } from "../flags/arguments.ts";
import { clearLog } from "../output/clear-log.ts";
import { command, refuse } from "../command.ts";
import { operate } from "../operate.ts";
import { contentText } from "../output/submission-view.ts";

export const findCommand = command({
  usage: "find",
  summary: "Find the submissions and held posts of a person, to hand them out or to erase them",
  options: [
    {
      flags: "--field <name=value>",
      summary: "a field and its value, like email=ada@example.org; letter case makes no difference",
      required: true,
      parse: parseField,
    },
    {
      flags: "--erase",
      summary: "delete for good what is shown, with its messages to webhooks and recipients",
    },
    { flags: "--yes", summary: "erase without being asked" },
  ],
  examples: [
    "formsvc submission find --field email=ada@example.org --json > ada.json",
    "formsvc submission find --field email=ada@example.org --erase",
  ],
  action: (context, options) =>
    operate(context, async ({ perform, here }) => {
      const { output } = context;
      const { name: field, value } = options.field;
      const found = await perform(findPersonRecords, { field, value }, () => ({ searches: null }));
      const count = found.submissions.length + found.held.length;
      const erases = options.erase && count > 0;
      if (erases) output.mustBeTaken("nothing was erased");
      if (output.isJson) output.json(found);
      else output.table(["CREATED", "ID", "DATA"], toRows(found), "nothing is kept");
      if (erases) {
        await confirm(`Erase what is shown (${count}) for good?`, options.yes);
        const { erased } = await perform(erasePersonRecords, {
          submissions: found.submissions.map(({ id }) => id),
          held: found.held.map(({ id }) => id),
        });
        output.note(`erased: ${erased}; backups made before still hold them`);
        clearLog(context, here);
      }
      if (found.has_more) throw new FormsvcError("failed", describeRest(erases));
    }),
});

/** Says that there is more. A script must not take a part of the result for all of it. */
function describeRest(erased: boolean): string {
  return erased
    ? "there is more than what was erased; run it again"
    : "there is more than what is shown; export all with: formsvc submission export";
}

function parseField(text: string): { readonly name: string; readonly value: string } {
  const [, name, value] = /^([^=]{1,1000})=([^]+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    return refuse("expected NAME=VALUE, like email=ada@example.org");
  return { name, value };
}

function toRows({ submissions, held }: z.output<typeof findPersonRecords.output>): string[][] {
  return [...submissions, ...held].map((found) => [found.created_at, found.id, contentText(found)]);
}
