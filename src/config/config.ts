import { z } from "zod";
import { isNetwork } from "../foundation/ip-address.ts";
import { isListenAddress } from "../foundation/listen-address.ts";
import { challengeSection, defaultChallenge } from "./challenge-section.ts";
import { defaultFiles, filesSection, httpUrl } from "./files-section.ts";
import { defaultMail, mailSection } from "./mail-section.ts";
import { defaultOidc, oidcSection } from "./oidc-section.ts";
import { defaultTrustedUser, trustedUserSection } from "./trusted-user-section.ts";

/**
 * Every setting of the program: shape, limits and default, in one place. `formsvc.config.example.json` holds these
 * defaults, and `docs/configuration.md` describes each path; tests compare both with this file.
 */

const count = z.int().min(1).max(1_000_000_000);
const seconds = z.int().min(1).max(31_536_000);
const milliseconds = z.int().min(100).max(3_600_000);
const network = z.string().refine(isNetwork, "expected an IP address or CIDR, like 10.0.0.0/8");
const listenAddress = z
  .string()
  .refine(isListenAddress, 'expected an address with a port, like "127.0.0.1:8788" or "[::1]:8788"');
const hostName = /^[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?\.?$/i;
const isNetworkOrName = (text: string): boolean =>
  isNetwork(text) || (hostName.test(text) && !/^[\d.]+$/.test(text));
const fileBytes = z.int().min(1024).max(1_125_899_906_842_624);
const heldBytes = z.int().min(1_048_576).max(1_125_899_906_842_624);

const plan = z.strictObject({
  monthlySubmissions: count
    .nullable()
    .describe("Accepted submissions a UTC calendar month; null is unlimited."),
  endpoints: count.nullable().describe("Endpoints a workspace may have; null is unlimited."),
  customSpam: z.boolean().describe("Whether the workspace may have spam rules of its own."),
  heldBytes: heldBytes
    .nullable()
    .default(33_554_432)
    .describe(
      "Bytes of refused posts that a workspace keeps; null is unlimited. A plan that does not say has 33554432 (32 MiB).",
    ),
  fileBytes: fileBytes
    .nullable()
    .default(104_857_600)
    .describe(
      "Bytes of files that a workspace keeps; beyond it, posts with files get 429. Null is unlimited. A plan that does not say has 104857600 (100 MiB).",
    ),
});

const planName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, "expected a lower-case plan name");

const rateLimit = z.strictObject({
  max: count.nullable().describe("Requests a window; null switches the limit off."),
  windowSeconds: seconds.describe("Length of the fixed window, in seconds."),
});

const sections = z.strictObject({
  server: z.strictObject({
    host: z.string().min(1).max(255).describe("Address to listen on."),
    port: z.int().min(0).max(65_535).describe("Port to listen on; 0 takes any free one."),
    baseUrl: httpUrl
      .nullable()
      .describe("The address that clients use, shown in examples; null derives it from host and port."),
    trustProxy: z
      .array(network)
      .max(1000)
      .describe("Reverse proxies whose X-Forwarded-For is believed: addresses and CIDRs."),
    bodyLimitBytes: z.int().min(1024).max(10_485_760).describe("Largest request body, in bytes."),
    requestTimeoutMs: milliseconds.describe("Longest time for a whole request to arrive, in milliseconds."),
    shutdownGraceMs: milliseconds.describe(
      "Longest time for open requests to finish when stopping, in milliseconds.",
    ),
  }),
  database: z.strictObject({
    path: z
      .string()
      .min(1)
      .max(4096)
      .describe("The database file; a relative path starts at the folder in which the program is started."),
    url: z
      .string()
      .max(4096)
      .regex(/^postgres(?:ql)?:\/\//i, "expected an address like postgresql://user:password@host/database")
      .nullable()
      .describe(
        "The address of a PostgreSQL database, which is then used instead of the file; null uses the file.",
      ),
    poolSize: z
      .int()
      .min(1)
      .max(100)
      .describe(
        "Connections to PostgreSQL at a time, besides four that a server has for posts and for the other servers.",
      ),
  }),
  plans: z.record(planName, plan),
  rateLimit: z.strictObject({
    publishable: rateLimit.describe("Posts with a publishable key, by address and endpoint."),
    secret: rateLimit.describe("Requests with a secret key, by key."),
    badKey: rateLimit.describe("Requests with malformed, unknown or revoked keys or tokens, by address."),
    token: rateLimit.describe("Requests with a token of the API, by token."),
    exempt: z.array(network).max(1000).describe("Addresses and CIDRs that no limit counts."),
  }),
  spam: z.strictObject({
    maxLinks: z
      .int()
      .min(0)
      .max(1000)
      .nullable()
      .describe("Links a submission may have before they cost points; null switches the limit off."),
  }),
  challenge: challengeSection,
  metrics: z.strictObject({
    enabled: z
      .boolean()
      .describe(
        "Whether `/metrics` is served; then the server needs `metrics.listen`, `metrics.token` or both.",
      ),
    token: z
      .string()
      .min(16, "expected at least 16 characters")
      .max(256)
      .regex(/^[\x21-\x7e]+$/, "expected visible ASCII characters")
      .nullable()
      .describe(
        "The Bearer token that `/metrics` requires, on every port; null keeps it off the server's own port.",
      ),
    listen: listenAddress
      .nullable()
      .describe(
        "An address and port for `/metrics` alone, like `127.0.0.1:8788`; null serves it on the server's own port only.",
      ),
  }),
  dashboard: z.strictObject({
    enabled: z.boolean().describe("Whether the dashboard is served at `/dashboard`."),
    listen: listenAddress
      .nullable()
      .describe(
        "An address and port for the dashboard alone, like `127.0.0.1:8789`; null serves it on the server's own port.",
      ),
    allowNetworks: z
      .array(network)
      .max(1000)
      .describe("Addresses and CIDRs that may open the dashboard; others get 404. An empty list lets all."),
    sessionIdleHours: z
      .int()
      .min(1)
      .max(8760)
      .describe("Hours after its last use when a session of the dashboard ends."),
    sessionMaxDays: z
      .int()
      .min(1)
      .max(365)
      .describe("Days after its sign-in when a session ends, however much it is used."),
    signUp: z
      .enum(["closed", "open"])
      .describe(
        "`open` lets anybody make an account with an address that is confirmed by mail; it needs `mail.host` and `server.baseUrl`.",
      ),
    passwords: z
      .enum(["on", "off"])
      .describe(
        "`off` lets nobody in by a password, and lets nobody set one: people sign in by `oidc` or `dashboard.trustedUserHeader`, and links from the machine sign in.",
      ),
    trustedUserHeader: trustedUserSection,
    logAddresses: z
      .boolean()
      .describe("Whether sessions and the event `sign-in.failed` name the client's address."),
  }),
  oidc: oidcSection,
  api: z.strictObject({
    enabled: z.boolean().describe("Whether the management API is served at `/api/v1`."),
  }),
  mcp: z.strictObject({
    enabled: z.boolean().describe("Whether agents are served at `/mcp`, by the Model Context Protocol."),
    allow: z
      .array(z.enum(["triage", "replay"]))
      .describe("Which tools that change something agents may have: `triage`, `replay`."),
    redact: z
      .boolean()
      .describe(
        "Whether agents at `/mcp` are shown no e-mail addresses, telephone numbers and IP addresses.",
      ),
  }),
  backup: z.strictObject({
    everyHours: z
      .int()
      .min(1)
      .max(8760)
      .nullable()
      .describe("Hours between two backups that the server makes by itself; null makes none."),
    keep: z
      .int()
      .min(1)
      .max(10_000)
      .describe("Number of newest backups in the folder, up to now, that stay."),
    directory: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        "The folder of these backups; a relative path starts at the database's folder. It is created if it is missing.",
      ),
  }),
  secrets: z
    .strictObject({
      keyFile: z
        .string()
        .min(1)
        .max(4096)
        .nullable()
        .describe(
          "File with the keys that encrypt the secrets in the database (of webhooks and second factors), the newest first; null stores them plain.",
        ),
      key: z
        .string()
        .min(1)
        .max(4096)
        .nullable()
        .describe("The same keys themselves, separated by commas, instead of a file."),
    })
    .refine(({ keyFile, key }) => keyFile === null || key === null, "expected keyFile or key, not both"),
  submissions: z.strictObject({
    binDays: z
      .int()
      .min(0)
      .max(3650)
      .describe("Days that deleted submissions stay in the bin; 0 deletes them at once, and empties it."),
  }),
  held: z.strictObject({
    days: z.int().min(1).max(3650).nullable().describe("Days that refused posts are kept; null keeps them."),
    maxPerWorkspace: z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .describe(
        "Refused posts that a workspace keeps; beyond it, posts of the network with the most are deleted first. Null is unlimited.",
      ),
    maxBytes: heldBytes
      .nullable()
      .describe(
        "Bytes of refused posts that all workspaces keep together; beyond it, the workspace with the most gives way first. Null is a tenth of the free disk, and 10 GiB on PostgreSQL.",
      ),
    maxFileBytes: z
      .int()
      .min(0)
      .max(1_125_899_906_842_624)
      .describe(
        "Bytes of files that the refused posts of a workspace keep; beyond it, a post is held with the names and sizes of its files.",
      ),
  }),
  files: filesSection,
  webhooks: z.strictObject({
    scheduleSeconds: z
      .array(z.number().min(0).max(604_800))
      .max(100)
      .describe(
        "Delays between the attempts of a delivery, in seconds; each may come up to a quarter later.",
      ),
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
      .describe(
        "Waits between the probes of a receiver that keeps failing, in seconds; the last one repeats.",
      ),
    keepDeliveredDays: z
      .int()
      .min(1)
      .max(3650)
      .nullable()
      .describe("Days that delivered messages and their attempts are kept; null keeps them."),
  }),
  mail: mailSection,
  newWorkspacePlan: planName.describe("The plan that new workspaces get: one of `plans`."),
  log: z.strictObject({
    level: z
      .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
      .describe("Least important level that is written."),
    format: z
      .enum(["auto", "json", "pretty"])
      .describe("`auto` is pretty on a terminal and JSON lines elsewhere."),
  }),
});

export const configSchema = sections.superRefine(({ plans, newWorkspacePlan }, context) => {
  if (Object.hasOwn(plans, newWorkspacePlan)) return;
  const names = Object.keys(plans).join(", ") || "none";
  const message = `there is no plan ${newWorkspacePlan}; plans has: ${names}`;
  context.addIssue({ code: "custom", path: ["newWorkspacePlan"], message });
});

export type Config = z.infer<typeof configSchema>;

export const defaultConfig: Config = {
  server: {
    host: "127.0.0.1",
    port: 8787,
    baseUrl: null,
    trustProxy: [],
    bodyLimitBytes: 65_536,
    requestTimeoutMs: 60_000,
    shutdownGraceMs: 15_000,
  },
  database: { path: "./formsvc.db", url: null, poolSize: 8 },
  plans: {
    hobby: {
      monthlySubmissions: 250,
      endpoints: 3,
      customSpam: false,
      heldBytes: 33_554_432,
      fileBytes: 104_857_600,
    },
    pro: {
      monthlySubmissions: 10_000,
      endpoints: 50,
      customSpam: true,
      heldBytes: 268_435_456,
      fileBytes: 5_368_709_120,
    },
    business: {
      monthlySubmissions: 250_000,
      endpoints: null,
      customSpam: true,
      heldBytes: 1_073_741_824,
      fileBytes: null,
    },
  },
  rateLimit: {
    publishable: { max: 10, windowSeconds: 60 },
    secret: { max: 600, windowSeconds: 60 },
    badKey: { max: 10, windowSeconds: 60 },
    token: { max: 600, windowSeconds: 60 },
    exempt: [],
  },
  spam: { maxLinks: 3 },
  challenge: defaultChallenge,
  metrics: { enabled: false, token: null, listen: null },
  dashboard: {
    enabled: true,
    listen: null,
    allowNetworks: [],
    sessionIdleHours: 168,
    sessionMaxDays: 30,
    signUp: "closed",
    passwords: "on",
    trustedUserHeader: defaultTrustedUser,
    logAddresses: false,
  },
  oidc: defaultOidc,
  api: { enabled: true },
  mcp: { enabled: false, allow: [], redact: false },
  backup: { everyHours: null, keep: 7, directory: "./backups" },
  secrets: { keyFile: null, key: null },
  submissions: { binDays: 30 },
  held: { days: 30, maxPerWorkspace: 10_000, maxBytes: null, maxFileBytes: 52_428_800 },
  files: defaultFiles,
  webhooks: {
    scheduleSeconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 86_400],
    timeoutMs: 10_000,
    allowNetworks: [],
    limits: { total: 64, perWebhook: 4, perHost: 8 },
    probeSeconds: [30, 60, 120, 300, 600, 900],
    keepDeliveredDays: 30,
  },
  mail: defaultMail,
  newWorkspacePlan: "hobby",
  log: { level: "info", format: "auto" },
};

/** Paths whose values `config show` never prints. */
export const secretPaths: readonly string[] = [
  "dashboard.trustedUserHeader.secret",
  "database.url",
  "files.s3.secretAccessKey",
  "mail.password",
  "metrics.token",
  "oidc.clientSecret",
  "secrets.key",
];
