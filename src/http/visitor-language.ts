import type { FastifyRequest } from "fastify";
import { acceptedLanguage, findLanguage, LANGUAGE_MEMBER } from "../languages/language.ts";
import { type Wording, wordingIn } from "../languages/wording.ts";
import { parseBody } from "../submissions/receive/parse-body.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What a plain form says in `_language`; null if it says nothing, undefined if the body was not read as a form. */
    saidLanguage: string | null | undefined;
  }
}

/**
 * The words for the visitor who sent a post: in the language that the post names, else the endpoint's, else the first of
 * `Accept-Language`, else English. Asked for only when there is something to say.
 *
 * @param caller if it is known by other means than the post's own way.
 */
export function visitorWording(request: FastifyRequest, caller = request.begun?.caller): Wording {
  const said = request.saidLanguage === undefined ? saidInJson(request.body) : request.saidLanguage;
  const chosen = findLanguage(said) ?? caller?.ready.endpoint.settings.language;
  return wordingIn(chosen ?? acceptedLanguage(request.headers["accept-language"]) ?? "en");
}

/** Of a body that may be anything. Most do not have the member, and are not parsed again. */
function saidInJson(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || !(body.includes(LANGUAGE_MEMBER) || body.includes("\\u"))) return null;
  try {
    const fields = parseBody(body);
    return Object.hasOwn(fields, LANGUAGE_MEMBER) ? fields[LANGUAGE_MEMBER] : null;
  } catch {
    return null;
  }
}
