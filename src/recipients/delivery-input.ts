import { z } from "zod";
import { DELIVERY_STATES } from "../outbox/queue/delivery.ts";
import { MAX_DELIVERY_PAGE } from "../outbox/queue/delivery-store.ts";
import { endpointChoice } from "./reach-recipient.ts";

/** Deliveries of a page unless it is said otherwise. */
export const DEFAULT_PAGE_SIZE = 25;

/** What a list of deliveries takes, whatever their recipients. */
export const deliveryListInput = {
  ...endpointChoice,
  submission: z.string().nullable().default(null).describe("Only this submission's, by its id."),
  state: z.enum(DELIVERY_STATES).nullable().default(null).describe("Only those in this state."),
  limit: z.int().min(1).max(MAX_DELIVERY_PAGE).default(DEFAULT_PAGE_SIZE),
  cursor: z.string().nullable().default(null).describe("The next_cursor of the page before."),
};

export const deliveryReference = { delivery: z.string().describe("Its id.") };
