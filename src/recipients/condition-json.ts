import { z } from "zod";
import { CONDITION_KINDS, MAX_CONDITIONS } from "../outbox/queue/conditions.ts";

const members = {
  field: z.string().describe("Name of a field of the form."),
  is: z
    .enum(CONDITION_KINDS)
    .describe(
      "How the field is compared: `~` means that it contains the value; `>` and `<` compare numbers; `filled` and `empty` need no value.",
    ),
  value: z
    .string()
    .describe(
      "The value that the field is compared with; letter case makes no difference. Empty for `filled` and `empty`.",
    ),
};

/** The conditions of a recipient in every output. */
export const conditionsShape = z
  .array(z.strictObject(members))
  .describe("Only submissions that meet all of these conditions are sent.");

/** The conditions of a recipient in the input of an operation. */
export const conditionsInput = z
  .array(z.strictObject({ ...members, value: members.value.default("") }))
  .readonly()
  .describe(
    `Conditions, at most ${MAX_CONDITIONS}: only submissions that meet all of them are sent. An empty list sends every submission.`,
  );
