import { z } from "zod";
import { POST_REFUSALS } from "../../submissions/receive/post-errors.ts";
import { submissionId } from "../../submissions/stored/submission-json.ts";
import { COMMON_ERRORS, type RouteDescription } from "../operation.ts";

const accepted = z
  .object({
    success: z.literal(true),
    message: z.string(),
    submission_id: submissionId,
  })
  .meta({ id: "Accepted" });

const limitHeaders = z.object({
  "RateLimit-Limit": z
    .string()
    .optional()
    .describe("The posts that are allowed in a window; absent if no limit applied."),
  "RateLimit-Remaining": z.string().optional().describe("The posts that are left in this window."),
  "RateLimit-Reset": z.string().optional().describe("Seconds until the window ends."),
});

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe(
    "A key that the client makes. A second post with the same key and the same body within 24 hours gets the answer of the first and is not stored again.",
  );

const POST_ERRORS = [...POST_REFUSALS, ...COMMON_ERRORS] as const;

const part = z.union([z.string(), z.file()]);

const formParts = z
  .record(z.string(), z.union([part, z.array(part)]))
  .describe(
    "The inputs by name: texts, and files for fields of type `file`. An input that comes several times is a list. They are read by the types of the schema, `a[]` as arrays and `a[b]` as objects.",
  );

export const submitOperation: RouteDescription = {
  id: "submit",
  summary: "Submit a form as JSON, or with its files",
  description: "`multipart/form-data` is for endpoints that have a field of type `file`.",
  key: "either",
  headers: z.object({
    "Idempotency-Key": idempotencyKey,
    "X-Submitter-IP": z
      .string()
      .optional()
      .describe("The IP address of the submitter; used with a secret key, ignored with a publishable one."),
    "X-Submitter-User-Agent": z
      .string()
      .optional()
      .describe("The `User-Agent` of the submitter; used with a secret key, ignored with a publishable one."),
  }),
  body: {
    "application/json": z
      .record(z.string(), z.unknown())
      .describe("The fields that the endpoint's schema declares."),
    "multipart/form-data": formParts,
  },
  answers: {
    200: {
      description: "Durably stored.",
      content: { "application/json": accepted },
      headers: limitHeaders,
    },
  },
  errors: ["invalid_json", ...POST_ERRORS],
  hasVisitors: true,
};

const formFields = z
  .record(z.string(), z.string())
  .describe(
    "The inputs by name. They are read by the types of the schema, `a[]` as arrays and `a[b]` as objects.",
  );

const acceptedForm = accepted
  .extend({
    visitor_message: z
      .string()
      .optional()
      .describe(
        "What to show to the visitor, in the language of `_language`, else of the endpoint or the browser; absent if the form has no `_language`.",
      ),
    notices: z
      .array(z.literal("redirect_ignored"))
      .optional()
      .describe("What the developer of the form should know; absent if there is nothing."),
  })
  .meta({ id: "AcceptedForm" });

const noticeHeader = z.object({
  "X-Formsvc-Notice": z
    .literal("redirect-ignored")
    .optional()
    .describe("The `_redirect` of the form is not on an allowed origin, so the visitor is not sent there."),
});

export const formOperation: RouteDescription = {
  id: "submitForm",
  summary: "Submit a plain HTML form",
  description:
    "Answers with a redirect or a page, or with JSON if `Accept` prefers it. Errors are answered in the same way.",
  key: "none",
  path: z.object({ key: z.string().describe("The endpoint's publishable key.") }),
  headers: z.object({ "Idempotency-Key": idempotencyKey }),
  body: { "application/x-www-form-urlencoded": formFields, "multipart/form-data": formParts },
  answers: {
    200: {
      description: "Durably stored.",
      content: { "application/json": acceptedForm, "text/html": z.string() },
      headers: limitHeaders.extend(noticeHeader.shape),
    },
    303: {
      description: "To the endpoint's page for success or for errors, or to the form's `_redirect`.",
      headers: noticeHeader.extend({ Location: z.string() }),
    },
  },
  errors: POST_ERRORS,
  hasVisitors: true,
};
