import { z } from "zod";
import { toIsoTime } from "../../foundation/clock.ts";
import { isId } from "../../foundation/id.ts";
import { canonicalAddress } from "../../foundation/ip-address.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { CONDITION_KINDS } from "../../outbox/queue/conditions.ts";
import { jsonObject } from "../../operations/json-object.ts";
import { spamClassOf, type SpamReason } from "../../spam/spam-verdict.ts";
import { copyJson } from "../../schemas/copy-json.ts";
import { MAX_SET_ASIDE_BYTES, MAX_SET_ASIDE_NAMES, type SetAside } from "../../schemas/set-aside.ts";
import { findUnfit } from "../receive/parse-body.ts";
import { MAX_USER_AGENT_LENGTH, type Submission } from "./submission.ts";
import {
  type BroughtNote,
  cleanNote,
  MAX_NOTE_LENGTH,
  MAX_NOTES,
  type Note,
  type StoredSubmission,
  WORK_STATES,
} from "./submission-work.ts";

/** The form of a submission in every JSON output. */
export function submissionJson(submission: StoredSubmission): SubmissionJson {
  const { state, assignee, notes, deletedAt } = submission;
  return {
    ...contentJson(submission),
    state,
    assignee,
    notes: notes.map(noteJson),
    ...(deletedAt !== null && { deleted_at: toIsoTime(deletedAt) }),
  };
}

export function noteJson({ id, text, by, createdAt }: Note): z.output<typeof noteShape> {
  return { id, text, by, created_at: toIsoTime(createdAt) };
}

/** The part of this JSON that held posts have too. */
export function contentJson(submission: Submission): PostedJson {
  return {
    id: submission.id,
    endpoint_id: submission.endpointId,
    data: submission.data,
    ...setAsideJson(submission.setAside),
    spam_score: submission.spamScore,
    // A submission is never blocked.
    spam_class: submission.spamClass as PostedJson["spam_class"],
    spam_reasons: submission.spamReasons,
    spam_version: submission.spamVersion,
    ip_address: submission.ipAddress,
    user_agent: submission.userAgent,
    created_at: toIsoTime(submission.createdAt),
    ...(submission.importedFrom && { imported_from: submission.importedFrom }),
  };
}

const NOTHING: SetAside = { fields: {}, dropped: 0 };

/** The JSON of the unknown fields that were set aside; a member is left out if it is empty. */
export function setAsideJson(setAside: SetAside | null) {
  const { fields, dropped } = setAside ?? NOTHING;
  return {
    ...(Object.keys(fields).length > 0 && { unknown_fields: fields }),
    ...(dropped > 0 && { unknown_fields_dropped: dropped }),
  };
}

export const submissionId = z.string().describe("`sub_` and 26 characters.");
export const submissionIds = z.array(submissionId).readonly();

export const noteShape = z.strictObject({
  id: z.string().describe("`note_` and 26 characters."),
  text: z.string(),
  by: z
    .string()
    .nullable()
    .describe(
      "Who wrote it: the e-mail address of the account, or the name of the token, at that time; null is the command line.",
    ),
  created_at: z.iso.datetime(),
});

export const assigneeShape = z.strictObject({ id: z.string(), email: z.string() });

/** The members about what people do with a submission. */
const workMembers = {
  state: z.enum(WORK_STATES).describe("`done` if somebody ticked the submission off, else `open`."),
  assignee: assigneeShape.nullable().describe("The account that looks after the submission; null is nobody."),
  notes: z.array(noteShape).readonly().describe("The notes that people added, the oldest first."),
  deleted_at: z.iso
    .datetime()
    .optional()
    .describe("When the submission was put into the bin. Absent if it is not there."),
};

/** The shape of a submission as JSON, for the description of the API. */
export const submissionSchema = z
  .object({
    id: submissionId,
    endpoint_id: z.string(),
    data: z.record(z.string(), z.unknown()).describe("The submitted fields."),
    unknown_fields: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        "What was sent but is not in the schema, and was set aside: each value by its path, like `person.age`. Absent if there is none.",
      ),
    unknown_fields_dropped: z
      .int()
      .min(1)
      .optional()
      .describe("How many values that are not in the schema had no room and are lost. Absent if none."),
    spam_score: z.int().min(0).max(100),
    spam_class: z.enum(["low", "medium", "high"]),
    spam_reasons: z
      .array(
        z.object({
          signal: z.string(),
          points: z.number(),
          field: z.string().nullable(),
          detail: z.string(),
        }),
      )
      .describe("The reasons for the score; their points add up to it."),
    spam_version: z.int().min(1).describe("The version of the filter that gave the score."),
    ip_address: z.string(),
    user_agent: z.string(),
    created_at: z.iso.datetime(),
    imported_from: z
      .string()
      .optional()
      .describe("The service whose export the submission was imported from. Absent if it was posted here."),
    ...workMembers,
  })
  .meta({ id: "Submission" });

/** The same shape for the output of operations. */
export const submissionShape = z.strictObject({
  ...submissionSchema.shape,
  data: jsonObject.describe("The submitted fields."),
  spam_reasons: submissionSchema.shape.spam_reasons.readonly(),
});

export type SubmissionJson = z.output<typeof submissionShape>;

/** The recipients that got no message about a submission because of a condition. Each has the first of its conditions that did not hold. */
export const notSentShape = z
  .array(
    z.strictObject({
      id: z.string().describe("The id of the recipient or webhook."),
      kind: z.string().describe("`mail` or `webhook`; a chat is a `webhook` too."),
      field: z
        .string()
        .describe(
          "The field of the condition that did not hold; `is` and `value` belong to the same condition.",
        ),
      is: z.enum(CONDITION_KINDS),
      value: z.string(),
    }),
  )
  .describe(
    "The recipients that got no message because of a condition, each with that condition. Absent if there is none, or if the caller may not see recipients.",
  );

/** The members that held posts have too. */
export const contentShape = submissionShape.omit({
  state: true,
  assignee: true,
  notes: true,
  deleted_at: true,
});

export type PostedJson = z.output<typeof contentShape>;

/**
 * The same rules as for posts: JSON with more than 1000 levels would break every search and export of the database, and a member named
 * `__proto__` is never a field, at any depth.
 */
const data = jsonObject
  .superRefine((value, context) => {
    const unfit = findUnfit(value);
    if (unfit !== undefined) context.addIssue(unfit);
  })
  .transform((value) => copyJson(value) as Record<string, unknown>);

/** The unknown fields of a submission as JSON. */
export const setAsideFields = data.superRefine((value, context) => {
  const isTooLarge = Buffer.byteLength(JSON.stringify(value)) > MAX_SET_ASIDE_BYTES;
  if (isTooLarge || Object.keys(value).length > MAX_SET_ASIDE_NAMES)
    context.addIssue(`has more than ${MAX_SET_ASIDE_NAMES} names or ${MAX_SET_ASIDE_BYTES} bytes`);
});

const reason: z.ZodType<SpamReason> = z.strictObject({
  signal: z.string().min(1),
  points: z.int(),
  field: z.string().nullable(),
  detail: z.string(),
});

/** The longest name, in characters: an e-mail address, or the name of a token or form. */
const MAX_NAME_LENGTH = 500;

const noteLine = z
  .object({
    text: z.string().transform(cleanNote),
    by: z
      .string()
      .max(MAX_NAME_LENGTH)
      .transform((name) => plainText(name).toWellFormed())
      .nullable(),
    created_at: z.iso.datetime({ precision: 3 }),
  })
  .refine(
    ({ text }) => Array.from(text).length <= MAX_NOTE_LENGTH,
    `has more than ${MAX_NOTE_LENGTH} characters`,
  );

/** A line with a submission in an export in NDJSON. */
export const submissionLine = z.object({
  id: z.string().refine((id) => isId("sub", id), "expected a submission's id"),
  endpoint_id: z.string().refine((id) => isId("ep", id), "expected an endpoint's id"),
  // Only in the archive of a workspace, because its forms may get new ids elsewhere.
  endpoint_name: z.string().max(MAX_NAME_LENGTH).optional(),
  data,
  unknown_fields: setAsideFields.optional(),
  unknown_fields_dropped: z.int().min(1).optional(),
  spam_score: z.int().min(0).max(100),
  spam_reasons: z.array(reason),
  // Exports that were made before the filter had versions do not have it.
  spam_version: z.int().min(1).default(1),
  ip_address: z
    .string()
    .refine((text) => text === "" || canonicalAddress(text) !== null, "expected an IP address"),
  user_agent: z.string().max(MAX_USER_AGENT_LENGTH),
  created_at: z.iso.datetime({ precision: 3 }),
  imported_from: z.string().min(1).max(100).optional(),
  // Exports that were made before people could work on submissions have none of these.
  state: z.enum(WORK_STATES).default("open"),
  assignee: z
    .object({ email: z.string().max(MAX_NAME_LENGTH) })
    .nullable()
    .default(null),
  notes: z.array(noteLine).max(MAX_NOTES).default([]),
});

export type SubmissionLine = z.infer<typeof submissionLine>;

/** The endpoint that a submission goes to, and the version of its schema. */
interface ImportTarget {
  readonly endpointId: string;
  readonly schemaVersion: number;
  /** The service for lines that name none themselves. */
  readonly importedFrom?: string | null;
}

/** Reads a line that {@link submissionJson} wrote. */
export function readLine(line: SubmissionLine, target: ImportTarget): Submission {
  return {
    ...target,
    id: line.id,
    data: line.data,
    setAside: readSetAside(line),
    spamScore: line.spam_score,
    spamClass: spamClassOf(line.spam_score),
    spamReasons: line.spam_reasons,
    spamVersion: line.spam_version,
    ipAddress: line.ip_address,
    userAgent: line.user_agent,
    createdAt: Date.parse(line.created_at),
    importedFrom: line.imported_from ?? target.importedFrom ?? null,
  };
}

/** The notes of a line, without empty ones. */
export function notesOf({ notes }: SubmissionLine): readonly BroughtNote[] {
  return notes
    .filter(({ text }) => text !== "")
    .map(({ text, by, created_at: at }) => ({ text, by, createdAt: Math.max(0, Date.parse(at)) }));
}

function readSetAside(line: SubmissionLine): SetAside | null {
  const { unknown_fields: fields, unknown_fields_dropped: dropped } = line;
  return fields === undefined && dropped === undefined
    ? null
    : { fields: fields ?? {}, dropped: dropped ?? 0 };
}
