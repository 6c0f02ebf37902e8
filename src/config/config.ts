import { z } from "zod";
import { baseUrl, listenAddress, network } from "./addresses.ts";
import { challengeSection, defaultChallenge } from "./challenge-section.ts";
import { dashboardSection, defaultDashboard } from "./dashboard-section.ts";
import { defaultFiles, filesSection } from "./files-section.ts";
import { defaultHeld, heldBytes, heldSection } from "./held-section.ts";
import { defaultMail, mailSection } from "./mail-section.ts";
import { defaultOidc, oidcSection } from "./oidc-section.ts";
import { defaultWebhooks, webhooksSection } from "./webhooks-section.ts";

/**
 * Every setting of the program: shape, limits and default, here or in the file of its section. `formsvc.config.example.json` holds the
 * defaults, and `docs/configuration.md` describes each path; tests compare both with this file.
 */

const count = z.int().min(1).max(1_000_000_000);
const seconds = z.int().min(1).max(31_536_000);
const milliseconds = z.int().min(100).max(3_600_000);
const fileBytes = z.int().min(1024).max(1_125_899_906_842_624);

const plan = z.strictObject({
  monthlySubmissions: count
    .nullable()
    .describe("Submissions that are accepted in a calendar month (UTC); null is unlimited."),
  endpoints: count.nullable().describe("Endpoints a workspace may have; null is unlimited."),
  customSpam: z.boolean().describe("Whether the workspace may have spam rules of its own."),
  heldBytes: heldBytes
    .nullable()
    .default(33_554_432)
    .describe(
      "Bytes of refused posts that a workspace keeps; null is unlimited. A plan without this setting has 33554432 (32 MiB).",
    ),
  fileBytes: fileBytes
    .nullable()
    .default(104_857_600)
    .describe(
      "Bytes of files that a workspace keeps; beyond it, posts with files get 429. Null is unlimited. A plan without this setting has 104857600 (100 MiB).",
    ),
});

export const planName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    "expected a plan's name: a small letter, then up to 31 small letters, digits and hyphens",
  );

const rateLimit = z.strictObject({
  max: count.nullable().describe("Requests that are allowed in a window; null switches the limit off."),
  windowSeconds: seconds.describe("Length of a window, in seconds."),
});

const sections = z.strictObject({
  server: z.strictObject({
    host: z.string().min(1).max(255).describe("Address to listen on."),
    port: z.int().min(0).max(65_535).describe("Port to listen on; 0 takes any free one."),
    baseUrl: baseUrl
      .nullable()
      .describe("The address that clients use, shown in examples; null derives it from host and port."),
    trustProxy: z
      .array(network)
      .max(1000)
      .describe("Reverse proxies whose X-Forwarded-For is believed: addresses and CIDRs."),
    bodyLimitBytes: z.int().min(1024).max(10_485_760).describe("Largest request body, in bytes."),
    requestTimeoutMs: milliseconds.describe(
      "Longest time for a whole request to arrive, in milliseconds. One whose body keeps coming, at 240 bytes a second or more, has six times as long, up to a minute.",
    ),
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
        "Largest number of connections to PostgreSQL, besides four that each server has for posts and for the exchange with other servers.",
      ),
  }),
  plans: z.record(planName, plan),
  rateLimit: z.strictObject({
    publishable: rateLimit.describe(
      "Posts with a publishable key, counted for each pair of address and endpoint.",
    ),
    secret: rateLimit.describe("Requests with a secret key, counted for each key."),
    badKey: rateLimit.describe(
      "Requests with malformed, unknown or revoked keys or tokens, counted for each address.",
    ),
    token: rateLimit.describe(
      "Requests with tokens of the API, counted together for all tokens of an account, and for all service tokens of a workspace.",
    ),
    exempt: z.array(network).max(1000).describe("Addresses and CIDRs whose requests are never limited."),
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
        "The Bearer token that `/metrics` requires, on every port; without one, the server's own port does not serve `/metrics`.",
      ),
    listen: listenAddress
      .nullable()
      .describe(
        "An address and port for `/metrics` alone, like `127.0.0.1:8788`; null serves it on the server's own port only.",
      ),
  }),
  dashboard: dashboardSection,
  oidc: oidcSection,
  api: z.strictObject({
    enabled: z.boolean().describe("Whether the management API is served at `/api/v1`."),
  }),
  mcp: z.strictObject({
    enabled: z.boolean().describe("Whether the Model Context Protocol is served at `/mcp`, for agents."),
    allow: z
      .array(z.enum(["triage", "replay"]))
      .describe(
        "The tools with which agents may change something: `triage` (mark submissions, release held posts), `replay` (send a delivery again). An empty list allows reading only.",
      ),
    redact: z
      .boolean()
      .describe(
        "Whether e-mail addresses, telephone numbers and IP addresses are hidden from agents at `/mcp`.",
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
      .describe(
        "How many of the newest backups stay in the folder; older ones are deleted. Backups that are dated in the future do not count.",
      ),
    directory: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        "The folder of these backups; a relative path starts at the folder of the database. It is created if it is missing.",
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
          "File with the keys that encrypt the secrets in the database (of webhooks and second factors), the newest first; null stores them unencrypted.",
        ),
      key: z
        .string()
        .min(1)
        .max(4096)
        .nullable()
        .describe(
          "The keys themselves, separated by commas, the newest first, instead of `secrets.keyFile`.",
        ),
    })
    .refine(({ keyFile, key }) => keyFile === null || key === null, "expected keyFile or key, not both"),
  submissions: z.strictObject({
    binDays: z
      .int()
      .min(0)
      .max(3650)
      .describe(
        "Days that deleted submissions stay in the bin; 0 deletes them at once, and empties the bin.",
      ),
  }),
  held: heldSection,
  files: filesSection,
  webhooks: webhooksSection,
  mail: mailSection,
  newWorkspacePlan: planName.describe("The plan that new workspaces get: one of `plans`."),
  log: z.strictObject({
    level: z
      .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
      .describe("The least important level of messages that is written."),
    format: z
      .enum(["auto", "json", "pretty"])
      .describe(
        "The format of the log: `auto` is `pretty` on a terminal and `json` (one object a line) elsewhere.",
      ),
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
    requestTimeoutMs: 10_000,
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
  dashboard: defaultDashboard,
  oidc: defaultOidc,
  api: { enabled: true },
  mcp: { enabled: false, allow: [], redact: false },
  backup: { everyHours: null, keep: 7, directory: "./backups" },
  secrets: { keyFile: null, key: null },
  submissions: { binDays: 30 },
  held: defaultHeld,
  files: defaultFiles,
  webhooks: defaultWebhooks,
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
