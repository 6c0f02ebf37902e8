import { z } from "zod";
import { reachEndpointIds } from "../../endpoints/viewable-endpoints.ts";
import { dropFiles, listFileIdsOf, listFileIdsOfHeld } from "../../files/file-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { jsonObject } from "../../operations/json-object.ts";
import { changed, type Context, operation } from "../../operations/operation.ts";
import { inSearchSlot, postsInput, type SearchParts } from "../find/choose-submissions.ts";
import { concealReasons } from "../stored/conceal-reasons.ts";
import { comparable } from "../find/comparable-text.ts";
import { eraseHeldRows, eraseSubmissionRows, findPerson } from "../find/find-person.ts";
import { personJson } from "./person-json.ts";
import { findReachableHeldPosts, findReachableSubmissions } from "./reach-posts.ts";
import { submissionShape } from "../stored/submission-json.ts";
import { changesOf } from "./submission-operations.ts";

const MAX_FIELD_LENGTH = 1000;

export const findPersonRecords = operation({
  name: "submission.find",
  summary: "Find the submissions and held posts of a person, to hand them out or to erase them",
  kind: "read",
  access: "submissions:read",
  input: z.strictObject({
    endpoint: postsInput.endpoint,
    workspace: postsInput.workspace,
    field: z.string().describe("Name of a field, which may be inside an object or a list."),
    value: z
      .string()
      .describe(
        "The value of the field. The case of letters, white space, invisible characters, and how an accent or a width is encoded make no difference.",
      ),
  }),
  output: z.strictObject({
    has_more: z.boolean().describe("Whether more submissions or held posts were found than are listed."),
    submissions: z.array(submissionShape),
    held: z.array(
      z.strictObject({
        id: z.string(),
        data: jsonObject,
        unknown_fields: submissionShape.shape.unknown_fields,
        unknown_fields_dropped: submissionShape.shape.unknown_fields_dropped,
        created_at: z.string(),
      }),
    ),
  }),
  async run(context: Context<SearchParts>, { field, value, ...reference }) {
    if (field === "" || field.length > MAX_FIELD_LENGTH || comparable(value) === "")
      throw new FormsvcError("usage", `name a field of 1 to ${MAX_FIELD_LENGTH} characters, and its value`);
    const { db, gone } = context;
    const endpointIds = await db.read(() => reachEndpointIds(context, reference));
    const find = () => findPerson(db, { field, value, endpointIds, gone });
    const conceal = await db.read(() => concealReasons(context.viewing));
    return personJson(await inSearchSlot(context, find), conceal);
  },
});

const ids = z.array(z.string()).readonly().default([]);

/** Backups that were made before still contain the records. */
export const erasePersonRecords = operation({
  name: "submission.erase",
  summary: "Delete submissions and held posts for good, with their messages and what was counted for them",
  kind: "danger",
  access: "submissions:write",
  input: z.strictObject({
    submissions: ids.describe("Ids of the submissions to erase; ids that do not exist any more are skipped."),
    held: ids.describe("Ids of the held posts to erase; ids that do not exist any more are skipped."),
  }),
  output: z.strictObject({ erased: z.number() }),
  async run(context, { submissions, held }) {
    const { erased, fileIds } = await context.transact(function* () {
      const own = yield* findReachableSubmissions(context, submissions, "anywhere");
      const ownHeld = yield* findReachableHeldPosts(context, held);
      const lost = [
        ...(yield* listFileIdsOf([...own.keys()])),
        ...(yield* listFileIdsOfHeld([...ownHeld.keys()])),
      ];
      yield* eraseSubmissionRows([...own.keys()]);
      yield* eraseHeldRows([...ownHeld.keys()]);
      const all = new Map([...own, ...ownHeld]);
      const changes = changesOf([...all.keys()], [...all.values()], "erased");
      return changed({ erased: all.size, fileIds: lost }, ...changes);
    });
    await dropFiles(context.db, fileIds);
    return { erased };
  },
});
