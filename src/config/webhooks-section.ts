import { z } from "zod";
import { isNetwork } from "../foundation/ip-address.ts";

const hostName = /^[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?\.?$/i;
const isNetworkOrName = (text: string): boolean =>
  isNetwork(text) || (hostName.test(text) && !/^[\d.]+$/.test(text));

/** The settings of deliveries to webhooks. */
export const webhooksSection = z.strictObject({
  scheduleSeconds: z
    .array(z.number().min(0).max(604_800))
    .max(100)
    .describe("Delays between the attempts of a delivery, in seconds; each may come up to a quarter later."),
  timeoutMs: z.int().min(100).max(60_000).describe("Longest time for one attempt, in milliseconds."),
  allowNetworks: z
    .array(z.string().refine(isNetworkOrName, "expected an address, a CIDR or a host name"))
    .max(1000)
    .describe("Private networks and host names that every webhook may reach."),
  limits: z.strictObject({
    total: z.int().min(1).max(1024).describe("Attempts at once, of all webhooks; workspaces share them."),
    perWebhook: z.int().min(1).max(1024).describe("Attempts at once of one webhook."),
    perHost: z.int().min(1).max(1024).describe("Attempts at once to one host; workspaces share them."),
  }),
  probeSeconds: z
    .array(z.number().min(0.1).max(86_400))
    .min(1)
    .max(100)
    .describe("Waits between the probes of a receiver that keeps failing, in seconds; the last one repeats."),
  keepDeliveredDays: z
    .int()
    .min(1)
    .max(3650)
    .nullable()
    .describe("Days that delivered messages and their attempts are kept; null keeps them for ever."),
});

export const defaultWebhooks: z.output<typeof webhooksSection> = {
  scheduleSeconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 86_400],
  timeoutMs: 10_000,
  allowNetworks: [],
  limits: { total: 64, perWebhook: 4, perHost: 8 },
  probeSeconds: [30, 60, 120, 300, 600, 900],
  keepDeliveredDays: 30,
};
