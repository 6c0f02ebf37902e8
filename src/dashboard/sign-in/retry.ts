import type { FastifyReply } from "fastify";
import { describeError, type ErrorCode, FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { MaybeLater } from "../../foundation/maybe-later.ts";
import { type Answer, type Page, page } from "../answer.ts";
import { FOCUSED } from "../kit/field.ts";
import { sentence } from "../kit/sentence.ts";

/** Errors that a person who signs in can do something about. */
const SHOWN: ReadonlySet<ErrorCode> = new Set(["unauthorized", "rate_limited", "unavailable", "usage"]);

/**
 * Runs the work of a form. If it is refused, the form's page is shown again with the reason, and without any secret.
 *
 * @param again renders that page, or another one that takes its place
 */
export async function orAgain(
  title: string,
  reply: FastifyReply,
  again: (problem: string, code: ErrorCode) => MaybeLater<Html | Page>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FormsvcError) || !SHOWN.has(error.code)) throw error;
    const { retryAfterSeconds } = error.facts;
    if (retryAfterSeconds !== undefined) reply.header("retry-after", Math.ceil(retryAfterSeconds));
    const status = error.code === "usage" ? 422 : describeError(error.code).status;
    const shown = await again(sentence(error.message), error.code);
    if (!("kind" in shown)) return page(title, shown, status);
    // The page of a dead link has the status that it has when the link is followed.
    return error.code === "unauthorized" ? shown : { ...shown, status };
  }
}

/** Why the form was refused. It has the focus, so a screen reader reads it first. */
export function problemView(problem: string | Html | undefined): Html | null {
  return problem === undefined ? null : html`<p class="notice bad" ${FOCUSED} role="alert">${problem}</p>`;
}
