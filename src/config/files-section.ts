import { z } from "zod";
import { baseUrl } from "./addresses.ts";
import { defaultS3, s3Section } from "./s3-section.ts";
import { isClamdAddress } from "../foundation/clamd-address.ts";

const bytes = z.int().min(1).max(1_125_899_906_842_624);

/** The settings of files of forms: how large and how many they may be, and how slowly they may arrive. */
export const filesSection = z.strictObject({
  maxFileBytes: z
    .int()
    .min(1024)
    .max(1_073_741_824)
    .describe("Largest file, in bytes; a field may allow less."),
  maxFiles: z.int().min(1).max(100).describe("Largest number of files in one post; a field may allow fewer."),
  maxPostBytes: z
    .int()
    .min(1024)
    .max(1_073_741_824)
    .describe(
      "Largest body of a form with files, in bytes; the texts in it must stay within `server.bodyLimitBytes`.",
    ),
  maxTotalBytes: bytes.describe(
    "Bytes of all files together, in the database and in the S3 store; beyond it, posts with files get 503.",
  ),
  maxBytesPerAddressPerDay: bytes
    .nullable()
    .describe(
      "Bytes of files that one address (IPv6: its /64) may upload in a UTC day; beyond it, posts with files get 429. It does not hold for `rateLimit.exempt`; null switches it off.",
    ),
  maxFormShare: z
    .number()
    .min(0.01)
    .max(1)
    .describe(
      "Share of the room for files that the publishable keys of one form may fill in a UTC day. The room is `fileBytes` of the plan, or `files.maxTotalBytes` if that is less.",
    ),
  minFreeBytes: z
    .int()
    .min(0)
    .max(1_125_899_906_842_624)
    .describe("Free bytes on the disk of the database file below which posts with files get 503."),
  spoolBytes: z
    .int()
    .min(1_048_576)
    .max(1_099_511_627_776)
    .describe(
      "Bytes of files that wait to be checked and stored, of all posts together. One address may use an eighth of it, and always has room for one post.",
    ),
  uploadTimeoutMs: z
    .int()
    .min(100)
    .max(86_400_000)
    .describe(
      "Longest time for a form with files to arrive, in place of `server.requestTimeoutMs`, in milliseconds.",
    ),
  minBytesPerSecond: z
    .int()
    .min(0)
    .max(1_073_741_824)
    .describe(
      "Bytes a second at which a form with files must arrive after its first 30 seconds; slower uploads are ended.",
    ),
  linkDays: z
    .int()
    .min(1)
    .max(365)
    .describe("Days for which the signed address of a file in a message of a webhook is valid."),
  baseUrl: baseUrl
    .nullable()
    .describe(
      "The beginning of these signed addresses, with a host that is for files alone: the dashboard is not served there. Null is `server.baseUrl`.",
    ),
  storage: z
    .enum(["database", "s3"])
    .describe(
      "Where new files go: into the database, or to the store that `files.s3` names. Stored files stay where they are.",
    ),
  s3: s3Section,
  clamd: z
    .string()
    .refine(isClamdAddress, "expected tcp://host:port, or unix: and the path of a socket")
    .nullable()
    .describe(
      "Address of a clamd that scans files for viruses, `tcp://host:port` or `unix:/path`. Null scans nothing.",
    ),
  scanWaitMs: z
    .int()
    .min(0)
    .max(3_600_000)
    .describe(
      "Longest time that a file waits for the scanner, in milliseconds; messages about its submission wait as long.",
    ),
  whenUnscanned: z
    .enum(["keep", "refuse"])
    .describe(
      "Whether a file may be opened (`keep`) or not (`refuse`) if the scanner gave no verdict in that time.",
    ),
});

export const defaultFiles: z.infer<typeof filesSection> = {
  maxFileBytes: 10_485_760,
  maxFiles: 5,
  maxPostBytes: 26_214_400,
  maxTotalBytes: 10_737_418_240,
  maxBytesPerAddressPerDay: 104_857_600,
  maxFormShare: 0.5,
  minFreeBytes: 1_073_741_824,
  spoolBytes: 268_435_456,
  uploadTimeoutMs: 600_000,
  minBytesPerSecond: 4096,
  linkDays: 7,
  baseUrl: null,
  storage: "database",
  s3: defaultS3,
  clamd: null,
  scanWaitMs: 60_000,
  whenUnscanned: "keep",
};
