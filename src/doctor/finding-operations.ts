import { z } from "zod";
import type { Finding } from "../foundation/finding.ts";
import type { Hint } from "../foundation/hint.ts";
import { type Context, operation } from "../operations/operation.ts";

/** A fact that each door puts into its own words. */
const hint = z.looseObject({ kind: z.string() }) as unknown as z.ZodType<Hint>;

const findingShape = z.strictObject({
  name: z
    .string()
    .describe(
      "The name of the check, which never changes: a noun and what is checked about it, like `backups.age`.",
    ),
  ok: z.boolean().describe("Whether all is well; false if somebody has to act."),
  message: z.string(),
  advice: z.union([z.string(), hint]).nullable().describe("What to do; null if nothing is wrong."),
});

interface Parts {
  /** Runs the checks of `formsvc doctor`, except those that take long. `now` accepts a result that is some seconds old. */
  readonly examine: (age: "now" | "lately") => Promise<readonly Finding[]>;
}

export const listFindings = operation({
  name: "finding.list",
  summary: "Check the database, the machine and the configuration of the server",
  kind: "read",
  access: "operator",
  input: z.strictObject({}),
  output: z.strictObject({ healthy: z.boolean(), checks: z.array(findingShape) }),
  async run({ parts }: Context<Parts>) {
    const checks = [...(await parts.examine("now"))];
    return { healthy: checks.every(({ ok }) => ok), checks };
  },
});
