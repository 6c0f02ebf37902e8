import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import type { FormsvcError } from "../foundation/errors.ts";
import { nextCursor } from "../operations/list-page.ts";
import { type Context, operation } from "../operations/operation.ts";
import type { Attempt } from "../outbox/queue/delivery.ts";
import type { DeliveryFilter } from "../outbox/queue/delivery-store.ts";
import type { ShownKinds } from "../outbox/queue/shown-deliveries.ts";
import { deliveryListInput, deliveryReference } from "./delivery-input.ts";
import { attemptJson, attemptShape } from "./delivery-json.ts";
import { chooseRecipients } from "./reach-delivery.ts";

/** How operations name, find and show the deliveries to a kind of recipient. */
interface ShownDeliveries<Recipient extends string, Row, Shape extends z.ZodType> {
  /** The first part of the operations' names. */
  readonly noun: "webhook" | "mail";
  /** The input member that has a recipient's id. */
  readonly recipient: Recipient;
  readonly kinds: ShownKinds;
  /** The error for an id that belongs to no recipient. */
  readonly none: (id: string) => FormsvcError;
  readonly shape: Shape;
  readonly json: (delivery: Row) => z.output<Shape>;
  readonly list: (
    filter: Omit<DeliveryFilter, "kinds">,
  ) => Steps<{ readonly deliveries: readonly Row[]; readonly nextCursor: string | null }>;
  readonly get: (
    context: Context,
    id: string,
  ) => Steps<{ readonly delivery: Row; readonly attempts: readonly Attempt[] }>;
  readonly summaries: Readonly<Record<"list" | "show", string>>;
}

type ListRequest = z.output<z.ZodObject<typeof deliveryListInput>>;
type OneRecipient = z.ZodDefault<z.ZodNullable<z.ZodString>>;

/** The input member that selects one recipient. */
export function onlyRecipient<Recipient extends string>(
  recipient: Recipient,
): Record<Recipient, OneRecipient> {
  const one = z
    .string()
    .nullable()
    .default(null)
    .describe(`Only deliveries to the ${recipient} with this id.`);
  return { [recipient]: one } as Record<Recipient, OneRecipient>;
}

/** The operations that list and show deliveries, for recipients of any kind. */
export function deliveryOperations<Recipient extends "webhook" | "recipient", Row, Shape extends z.ZodType>(
  of: ShownDeliveries<Recipient, Row, Shape>,
) {
  type Only = Record<Recipient, string | null>;
  const { noun, recipient: member, kinds, none, shape, json, list, get, summaries } = of;
  return {
    list: operation({
      name: `${noun}.deliveries`,
      summary: summaries.list,
      kind: "read",
      access: "recipients:read",
      input: z.strictObject({ ...deliveryListInput, ...onlyRecipient(member) }),
      output: z.strictObject({ data: z.array(shape), next_cursor: nextCursor }),
      *run(context, input) {
        const { endpoint, workspace, submission: submissionId, state, limit, cursor } = input as ListRequest;
        const choice = { recipientId: (input as Only)[member], endpoint, workspace };
        const { recipientId, endpointIds } = yield* chooseRecipients(context, kinds, choice, none);
        const filter = { recipientId, endpointIds, submissionId, state, limit, cursor };
        const { deliveries, nextCursor: next } = yield* list(filter);
        return { data: deliveries.map(json), next_cursor: next };
      },
    }),
    show: operation({
      name: `${noun}.attempts`,
      summary: summaries.show,
      kind: "read",
      access: "recipients:read",
      input: z.strictObject(deliveryReference),
      output: z.strictObject({ delivery: shape, data: z.array(attemptShape) }),
      *run(context, { delivery: id }) {
        const { delivery, attempts } = yield* get(context, id);
        return { delivery: json(delivery), data: attempts.map(attemptJson) };
      },
    }),
  };
}
