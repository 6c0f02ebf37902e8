import { z } from "zod";
import { baseUrl } from "./addresses.ts";

/** The settings of an S3-compatible store for files. */
export const s3Section = z.strictObject({
  endpoint: baseUrl
    .nullable()
    .describe("The address of an S3-compatible store, without the bucket; null uses no such store."),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "expected a bucket's name, like formsvc-files")
    .nullable()
    .describe("The bucket of that store. It must exist, must not be public and must keep no versions."),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/i, "expected a region, like eu-central-1")
    .describe("The region of the store, for which requests are signed."),
  prefix: z
    .string()
    .regex(/^(?:[A-Za-z0-9._-]+\/?)*$/, "expected letters, digits, dots, dashes and single slashes")
    .max(200)
    .describe("The prefix of the name of every object, like `files/`."),
  accessKeyId: z
    .string()
    .regex(/^[\x21-\x7e]{1,256}$/, "expected the name of an access key")
    .nullable()
    .describe("The id of the access key."),
  secretAccessKey: z.string().min(1).max(1024).nullable().describe("The secret of the access key."),
  secretAccessKeyFile: z
    .string()
    .min(1)
    .max(4096)
    .nullable()
    .describe("File with that secret in its first line, instead of `files.s3.secretAccessKey`."),
  pathStyle: z
    .boolean()
    .describe(
      "Whether the name of the bucket is in the path of the address; false puts it before the name of the host.",
    ),
  timeoutMs: z
    .int()
    .min(100)
    .max(600_000)
    .describe(
      "Longest time in which the store may be silent, in milliseconds; a whole request has ten times as long.",
    ),
});

export const defaultS3: z.infer<typeof s3Section> = {
  endpoint: null,
  bucket: null,
  region: "us-east-1",
  prefix: "",
  accessKeyId: null,
  secretAccessKey: null,
  secretAccessKeyFile: null,
  pathStyle: true,
  timeoutMs: 30_000,
};
