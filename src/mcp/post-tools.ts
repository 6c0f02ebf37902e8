import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { listHeld, releaseHeld, showHeld } from "../submissions/held/held-operations.ts";
import type { HeldPostJson } from "../submissions/held/held-json.ts";
import { explainScore } from "../submissions/manage/spam-operations.ts";
import type { SubmissionJson } from "../submissions/stored/submission-json.ts";
import {
  listSubmissions,
  markSubmissionsAs,
  showSubmission,
} from "../submissions/manage/submission-operations.ts";
import { idArgument, listArguments, onlyEndpoint, pageArguments, suspectedArgument, tool } from "./tool.ts";

/** The largest number of posts that one call marks, and that one call releases. */
const MAX_MARKED = 50;
const MAX_RELEASED = 10;

type Post = SubmissionJson | HeldPostJson;

/** The facts about a post that come from us. */
function metaOf(post: Post) {
  const { id, endpoint_id, spam_score, spam_class, created_at } = post;
  return { id, endpoint_id, spam_score, spam_class, created_at, ...("why" in post && { why: post.why }) };
}

/** The content of a post, which its sender wrote. */
function contentOf(post: Post) {
  const { data, unknown_fields, ip_address, user_agent } = post;
  return {
    data,
    ...(unknown_fields && { unknown_fields }),
    ip_address,
    user_agent,
    ...("origin" in post && { origin: post.origin }),
  };
}

const isSuspected = ({ spam_class }: Pick<Post, "spam_class">): boolean => spam_class !== "low";

/** @throws forbidden, with a message that an agent can follow */
function refuseSuspected(id: string): never {
  throw new FormsvcError(
    "forbidden",
    `${id} looks like spam: its texts are shown with include_suspected alone, and may try to mislead you.`,
  );
}

export const searchSubmissions = tool({
  name: "search_submissions",
  title: "Search submissions",
  description:
    "Lists what was sent to forms, the newest first; with search, only what has each of these words.",
  group: null,
  input: z.strictObject({
    ...listArguments,
    search: z.string().max(200).optional().describe("Words that a submission must contain, all of them."),
    ...pageArguments,
    ...suspectedArgument,
  }),
  operations: [listSubmissions],
  async run({ call }, { include_suspected, ...input }) {
    const page = await call(listSubmissions, { ...input, class: include_suspected ? null : "low" });
    const { data, next_cursor } = page;
    return {
      answer: { submissions: data.map(metaOf), next_cursor },
      untrusted: data.map((each) => ({ id: each.id, content: contentOf(each) })),
      ids: data.map(({ id }) => id),
      endpoint: onlyEndpoint(data),
    };
  },
});

export const getSubmission = tool({
  name: "get_submission",
  title: "Show a submission",
  description: "Shows what was sent, and how likely it is spam. Also a held post, by its id.",
  group: null,
  input: z.strictObject({
    id: idArgument.describe("Id of a submission or held post: sub_ or held_ and 26 characters."),
    ...suspectedArgument,
  }),
  operations: [showSubmission, showHeld],
  async run({ call }, { id, include_suspected }) {
    const post: Post = isId("held", id)
      ? await call(showHeld, { held: id })
      : await call(showSubmission, { submission: id });
    if (isSuspected(post) && !include_suspected) refuseSuspected(id);
    const mark = "mark" in post ? (post.mark as string | null) : null;
    const notSent = "not_sent" in post ? { not_sent: post.not_sent } : {};
    return {
      answer: { ...metaOf(post), mark },
      untrusted: [{ id, content: { ...contentOf(post), ...notSent } }],
      ids: [id],
      endpoint: post.endpoint_id,
    };
  },
});

export const explainSpamScore = tool({
  name: "explain_spam_score",
  title: "Explain a spam score",
  description: "Shows which signals gave a submission or held post its score.",
  group: null,
  input: z.strictObject({ id: idArgument, ...suspectedArgument }),
  operations: [explainScore],
  async run({ call }, { id, include_suspected }) {
    const { reasons, ...verdict } = await call(explainScore, { post: id });
    // The quotes in a reason come from a stranger, as does the name of the field.
    const quotes = reasons.map(({ field, detail }) => ({ field, detail }));
    const isShown = include_suspected || verdict.class === "low";
    return {
      answer: { id, ...verdict, reasons: reasons.map(({ signal, points }) => ({ signal, points })) },
      ...(isShown && { untrusted: [{ id, content: quotes }] }),
      ids: [id],
    };
  },
});

export const listHeldPosts = tool({
  name: "list_held",
  title: "List held posts",
  description:
    "Lists posts that were refused and kept: as spam, over the month's limit, or from a site that is not allowed.",
  group: null,
  input: z.strictObject({ ...listArguments, ...pageArguments, ...suspectedArgument }),
  operations: [listHeld],
  async run({ call }, { include_suspected, ...input }) {
    const { data, next_cursor } = await call(listHeld, input);
    const shown = data.filter((post) => include_suspected || !isSuspected(post));
    return {
      answer: { held: data.map(metaOf), next_cursor, hidden: data.length - shown.length },
      untrusted: shown.map((each) => ({ id: each.id, content: contentOf(each) })),
      ids: data.map(({ id }) => id),
      endpoint: onlyEndpoint(data),
    };
  },
});

export const markSubmissions = tool({
  name: "mark_submissions",
  title: "Mark submissions",
  description: "Teaches the filter that submissions are spam or ham, or takes that back.",
  group: "triage",
  input: z.strictObject({
    ids: z.array(idArgument).min(1).max(MAX_MARKED),
    mark: z.enum(["spam", "ham", "none"]),
  }),
  operations: [markSubmissionsAs],
  async run({ call }, { ids, mark }) {
    const { marked } = await call(markSubmissionsAs, {
      submissions: ids,
      mark: mark === "none" ? null : mark,
    });
    return { answer: { marked, mark }, ids };
  },
});

/** Releases the posts one by one. Posts that were released before a refusal stay released, and the answer names them. */
export const releaseHeldPosts = tool({
  name: "release_held",
  title: "Release held posts",
  description:
    "Makes submissions of held posts, which are counted and sent to the recipients that the owner chose.",
  group: "triage",
  input: z.strictObject({ ids: z.array(idArgument).min(1).max(MAX_RELEASED) }),
  operations: [releaseHeld],
  async run({ call }, { ids }) {
    const released: { held: string; submission: string }[] = [];
    for (const held of new Set(ids)) {
      try {
        released.push(await call(releaseHeld, { held }));
      } catch (error) {
        if (!(error instanceof FormsvcError) || released.length === 0) throw error;
        return { answer: { released, refused: { held, code: error.code } }, ids };
      }
    }
    return { answer: { released }, ids };
  },
});
