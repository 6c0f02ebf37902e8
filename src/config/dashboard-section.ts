import { z } from "zod";
import { listenAddress, network } from "./addresses.ts";
import { defaultTrustedUser, trustedUserSection } from "./trusted-user-section.ts";

/** The settings of the dashboard, and of signing in to it. Rules between them are in `check-server-config.ts`. */
export const dashboardSection = z.strictObject({
  enabled: z.boolean().describe("Whether the dashboard is served at `/dashboard`."),
  listen: listenAddress
    .nullable()
    .describe(
      "An address and port for the dashboard alone, like `127.0.0.1:8789`; null serves it on the server's own port.",
    ),
  allowNetworks: z
    .array(network)
    .max(1000)
    .describe("Addresses and CIDRs that may open the dashboard; others get 404. An empty list allows all."),
  sessionIdleHours: z
    .int()
    .min(1)
    .max(8760)
    .describe("Hours without use after which a session of the dashboard ends."),
  sessionMaxDays: z
    .int()
    .min(1)
    .max(365)
    .describe("Days after the sign-in at which a session of the dashboard ends, even if it is in use."),
  signUp: z
    .enum(["closed", "open"])
    .describe(
      "`open` lets anybody make an account, whose address is confirmed by e-mail; it needs `mail.host` and `server.baseUrl`.",
    ),
  passwords: z
    .enum(["on", "off"])
    .describe(
      "`off` lets nobody sign in with a password or set one: people sign in by `oidc` or `dashboard.trustedUserHeader`, or by a link that is made on the server's machine.",
    ),
  trustedUserHeader: trustedUserSection,
  logAddresses: z
    .boolean()
    .describe(
      "Whether the IP address of the client is shown with sessions and in the event `sign-in.failed`.",
    ),
});

export const defaultDashboard: z.output<typeof dashboardSection> = {
  enabled: true,
  listen: null,
  allowNetworks: [],
  sessionIdleHours: 168,
  sessionMaxDays: 30,
  signUp: "closed",
  passwords: "on",
  trustedUserHeader: defaultTrustedUser,
  logAddresses: false,
};
