import type { FastifyReply } from "fastify";
import { describeError, type ErrorCode, FormsvcError } from "../../foundation/errors.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { MaybeLater } from "../../foundation/maybe-later.ts";
import { type Answer, page } from "../answer.ts";
import { sentence } from "../kit/sentence.ts";

/** Refusals that somebody who proves who they are can do something about. */
const SHOWN: ReadonlySet<ErrorCode> = new Set(["unauthorized", "rate_limited", "unavailable", "usage"]);

/**
 * Does what a form asks for. If it is refused, its page is shown again with the reason, and nothing that is secret in it.
 *
 * @param again the content of that page.
 */
export async function orAgain(
  title: string,
  reply: FastifyReply,
  again: (problem: string) => MaybeLater<Html>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FormsvcError) || !SHOWN.has(error.code)) throw error;
    const { retryAfterSeconds } = error.facts;
    if (retryAfterSeconds !== undefined) reply.header("retry-after", Math.ceil(retryAfterSeconds));
    const status = error.code === "usage" ? 422 : describeError(error.code).status;
    return page(title, await again(sentence(error.message)), status);
  }
}

/** Why the form was refused. A screen reader tells it first. */
export function problemView(problem: string | undefined): Html | null {
  return problem === undefined ? null : html`<p class="notice bad" role="alert">${problem}</p>`;
}
