import { z } from "zod";
import { CONDITION_KINDS, MAX_CONDITIONS } from "../outbox/queue/conditions.ts";

const members = {
  field: z.string().describe("Name of a field of the form."),
  is: z
    .enum(CONDITION_KINDS)
    .describe("`~` is contains; `>` and `<` compare numbers; `filled` and `empty` need no value."),
  value: z
    .string()
    .describe("What it is compared with, in any case of letters; empty for `filled` and `empty`."),
};

/** The conditions of a recipient in every output. */
export const conditionsShape = z
  .array(z.strictObject(members))
  .describe("Only submissions that meet all of them are sent.");

/** The conditions of a recipient in the input of an operation. */
export const conditionsInput = z
  .array(z.strictObject({ ...members, value: members.value.default("") }))
  .readonly()
  .describe(`Only submissions that meet all of these, at most ${MAX_CONDITIONS}; none is every submission.`);
