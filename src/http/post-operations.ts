import { z } from "zod";
import { POST_REFUSALS } from "../submissions/receive/receive-submission.ts";
import { submissionId } from "../submissions/stored/submission-json.ts";
import { COMMON_ERRORS, type RouteDescription } from "./operation.ts";

const accepted = z
  .object({
    success: z.literal(true),
    message: z.string(),
    submission_id: submissionId,
  })
  .meta({ id: "Accepted" });

const limitHeaders = z.object({
  "RateLimit-Limit": z.string().optional().describe("Posts in a window; absent if no limit applied."),
  "RateLimit-Remaining": z.string().optional().describe("Posts left in the window."),
  "RateLimit-Reset": z.string().optional().describe("Seconds until the window ends."),
});

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe("The same key with the same body within 24 h is answered as the first time and stored once.");

const POST_ERRORS = [...POST_REFUSALS, ...COMMON_ERRORS] as const;

const part = z.union([z.string(), z.file()]);

const formParts = z
  .record(z.string(), z.union([part, z.array(part)]))
  .describe(
    "Inputs by name, as texts, and files for fields of type `file`; what comes several times is a list. Read by the schema's types, `a[]` for arrays and `a[b]` for objects.",
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
      .describe("The submitter's address; believed from a secret key, ignored from a publishable one."),
    "X-Submitter-User-Agent": z.string().optional().describe("As `X-Submitter-IP`."),
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
  .describe("Inputs by name; read by the schema's types, `a[]` for arrays and `a[b]` for objects.");

const acceptedForm = accepted
  .extend({
    visitor_message: z
      .string()
      .optional()
      .describe(
        "For the visitor, in the language of `_language`, else of the endpoint or the browser; absent without that member.",
      ),
    notices: z
      .array(z.literal("redirect_ignored"))
      .optional()
      .describe("What whoever made the form should know; absent if there is nothing."),
  })
  .meta({ id: "AcceptedForm" });

const noticeHeader = z.object({
  "X-Formsvc-Notice": z
    .literal("redirect-ignored")
    .optional()
    .describe("The form's `_redirect` is not on an allowed origin, and nobody is led there."),
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
