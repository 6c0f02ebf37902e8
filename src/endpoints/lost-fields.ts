import { z } from "zod";
import { mailFieldsOf } from "../schemas/mail-fields.ts";
import { query } from "../database/database.ts";
import { all, type Steps } from "../database/steps.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";

/** A recipient that loses a field which it is about. */
export interface LostField {
  readonly recipient_id: string;
  readonly kind: string;
  readonly fields: readonly string[];
}

export const lostFieldsShape = z
  .array(
    z.strictObject({ recipient_id: z.string(), kind: z.string(), fields: z.array(z.string()).readonly() }),
  )
  .describe(
    "Recipients that lose a field by this change: a condition on it counts as met, and an automatic reply (autoreply) is sent to nobody. Absent if there is none, or if they may not be seen.",
  );

/** Lists what loses its field if the schema of an endpoint becomes another one. */
export function* listLostFields(
  endpointId: string,
  before: SchemaDefinition,
  after: SchemaDefinition,
): Steps<LostField[]> {
  const rows = yield* all(
    query
      .selectFrom("recipient")
      .leftJoin("auto_reply", "auto_reply.id", "recipient.id")
      .select(["recipient.id", "kind", "conditions", "state", "confirmed_at", "field"])
      .where("endpoint_id", "=", endpointId)
      .orderBy("recipient.id"),
  );
  return rows.flatMap(({ id, kind, conditions, field, ...row }) => {
    const asked = conditions === null ? [] : (JSON.parse(conditions) as { readonly field: string }[]);
    const gone = asked
      .map((each) => each.field)
      .filter((name) => Object.hasOwn(before, name) && !Object.hasOwn(after, name));
    const isReply = field !== null && row.state === "enabled" && row.confirmed_at !== null;
    const isLost = isReply && mailFieldsOf(before).includes(field) && !mailFieldsOf(after).includes(field);
    const fields = [...new Set([...gone, ...(isLost ? [field] : [])])];
    return fields.length === 0 ? [] : [{ recipient_id: id, kind, fields }];
  });
}
