import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Caller } from "../../submissions/receive/authenticate.ts";
import type { Challenges } from "../../submissions/receive/check-challenge.ts";
import { challengeShape } from "../../submissions/receive/proof-of-work.ts";
import { allowAnyOrigin } from "../cors.ts";
import { COMMON_ERRORS, type RouteDescription, readQuery } from "../operation.ts";
import { findPage } from "./own-page-routes.ts";
import { type CallerParts, identify } from "../posts/receive-post.ts";

export interface ChallengeRoutesParts extends CallerParts {
  readonly challenges: Pick<Challenges, "make">;
}

const asked = z.strictObject({
  key: z.string().max(200).optional().describe("The publishable key of the form."),
  form: z
    .string()
    .max(200)
    .optional()
    .describe("In place of a key, the id or name of a form that has a page of its own."),
});

/** `GET /challenge`: a proof of work that a browser does before it sends the form. */
export function challengeRoutes(server: FastifyInstance, parts: ChallengeRoutesParts): void {
  server.get("/challenge", { config: { operation: challengeOperation } }, async (request, reply) => {
    allowAnyOrigin(reply);
    const { key, form } = readQuery(asked, request.query);
    const caller =
      form === undefined
        ? await identify(parts, request, `Bearer ${key ?? ""}`)
        : await findPage(parts, request, form);
    return answer(reply, caller, parts);
  });
}

async function answer(
  reply: FastifyReply,
  caller: Caller,
  { challenges, gatekeeper }: ChallengeRoutesParts,
): Promise<FastifyReply> {
  const { key, ready } = caller;
  if (key.kind === "secret")
    throw new FormsvcError(
      "forbidden",
      "A secret key needs no challenge, and does not belong in an address.",
    );
  gatekeeper.admitQuestion(caller);
  reply.header("cache-control", "no-store");
  if (ready.endpoint.settings.challenge.kind !== "pow") return reply.code(204).send();
  return reply.send(await challenges.make(ready.endpoint.id));
}

const challengeOperation: RouteDescription = {
  id: "challenge",
  summary: "A proof of work for a form",
  description:
    "The browser looks for the number with which the SHA-256 of salt and number is the challenge, and sends the members of the answer with `number` and without `maxnumber` as `_pow`: base64 of JSON, as ALTCHA v1 has it.",
  key: "none",
  query: asked,
  answers: {
    200: {
      description: "To be solved within 10 minutes, for one post.",
      content: { "application/json": challengeShape },
    },
    204: { description: "The form asks for no proof of work." },
  },
  errors: ["invalid_request", "unauthorized", "forbidden", "not_found", "rate_limited", ...COMMON_ERRORS],
};
