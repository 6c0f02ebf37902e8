import { z } from "zod";
import { reachEndpoint } from "../../endpoints/endpoint-store.ts";
import { endpointReference } from "../../endpoints/endpoint-operations.ts";
import {
  changedChoices,
  reachSpamScope,
  spamChangeInput,
  type SpamParts,
} from "../../endpoints/spam-operations.ts";
import { readChoices } from "../../endpoints/spam-choices-store.ts";
import { isId } from "../../foundation/id.ts";
import { jsonObject } from "../../operations/json-object.ts";
import { type Context, operation } from "../../operations/operation.ts";
import { verdictJson, verdictShape } from "../../spam/verdict-json.ts";
import { inSearchSlot, type SearchParts } from "../find/choose-submissions.ts";
import { explainPost } from "./explain-post.ts";
import { previewChoices } from "./preview-choices.ts";
import { previewJson, previewShape } from "./preview-json.ts";
import { reachHeldPost, reachSubmission } from "./reach-posts.ts";

export const explainScore = operation({
  name: "spam.explain",
  summary: "Show the reasons of the score of a submission or held post, as they were when it came",
  kind: "read",
  access: "spam:details",
  input: z.strictObject({ post: z.string().describe("Id of a submission or held post.") }),
  output: verdictShape.extend({
    version: z.number().describe("The version of the filter that gave the score."),
  }),
  *run(context, { post }) {
    const stored = isId("held", post)
      ? yield* reachHeldPost(context, post)
      : yield* reachSubmission(context, post);
    const { spamScore: score, spamClass, spamReasons: reasons, spamVersion: version } = stored;
    return { ...verdictJson({ score, spamClass, reasons }), version };
  },
});

export const scorePost = operation({
  name: "spam.score",
  summary:
    "Score a post as an endpoint would, with its settings and its workspace's memory; nothing is stored",
  kind: "read",
  access: "spam:details",
  input: z.strictObject({ ...endpointReference, post: jsonObject }),
  output: verdictShape.extend({
    unfit: z
      .array(z.strictObject({ field: z.string(), problems: z.array(z.string()).readonly() }))
      .readonly()
      .describe("The fields because of which the server would refuse the post; empty if it fits the form."),
  }),
  *run(context: Context<SpamParts>, { post, ...reference }) {
    const { config, parts, now } = context;
    const rules = { plans: config.plans, defaults: parts.spamDefaults };
    const { id } = yield* reachEndpoint(context, reference);
    const { verdict, unfit } = yield* explainPost(rules, id, post, now);
    return { ...verdictJson(verdict), unfit };
  },
});

export const previewSpam = operation({
  name: "spam.preview",
  summary: "Show what a change of spam settings would have done to the last 500 posts; nothing is stored",
  kind: "read",
  access: "spam:preview",
  furtherAccess: ["workspace:read"],
  input: z.strictObject(spamChangeInput),
  output: previewShape,
  async run(context: Context<SpamParts & SearchParts>, input) {
    const { db, config, parts, gone } = context;
    const scope = await db.read(() => reachSpamScope(context, input, "workspace:read"));
    const choices = changedChoices(await db.read(() => readChoices(scope.scope)), input);
    const rules = { plans: config.plans, defaults: parts.spamDefaults, gone };
    return previewJson(await inSearchSlot(context, () => previewChoices(db, scope, choices, rules)));
  },
});
