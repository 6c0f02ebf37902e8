import { z } from "zod";
import { pageInput } from "../operations/list-page.ts";
import { DELIVERY_STATES } from "../outbox/queue/delivery.ts";
import { endpointChoice } from "./reach-recipient.ts";

/** The input of a list of deliveries, whatever the kind of recipient. */
export const deliveryListInput = {
  ...endpointChoice,
  submission: z
    .string()
    .nullable()
    .default(null)
    .describe("Only deliveries about the submission with this id."),
  state: z.enum(DELIVERY_STATES).nullable().default(null).describe("Only deliveries in this state."),
  ...pageInput,
};

export const deliveryReference = { delivery: z.string().describe("Id of the delivery.") };
