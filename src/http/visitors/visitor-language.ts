import type { FastifyRequest } from "fastify";
import { acceptedLanguage, findLanguage, LANGUAGE_MEMBER } from "../../languages/language.ts";
import { type Wording, wordingIn } from "../../languages/wording.ts";
import { parseBody } from "../../submissions/receive/parse-body.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The value of `_language` in a plain form; null if the form has none, undefined if the body was not read as a form. */
    saidLanguage: string | null | undefined;
  }
}

/**
 * The words for the visitor who sent a post. The language is the one that the post names, else the endpoint's, else the first of
 * `Accept-Language`, else English. Called only if there is something to say.
 *
 * @param caller the sender, if the request does not know it
 */
export function visitorWording(request: FastifyRequest, caller = request.begun?.caller): Wording {
  const said = request.saidLanguage === undefined ? saidInJson(request.body) : request.saidLanguage;
  const chosen = findLanguage(said) ?? caller?.ready.endpoint.settings.language;
  return wordingIn(chosen ?? acceptedLanguage(request.headers["accept-language"]) ?? "en");
}

/** The value of `_language` in a JSON body, which may be anything. Most bodies do not have the member, and are not parsed again. */
function saidInJson(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || !(body.includes(LANGUAGE_MEMBER) || body.includes("\\u"))) return null;
  try {
    const fields = parseBody(body);
    return Object.hasOwn(fields, LANGUAGE_MEMBER) ? fields[LANGUAGE_MEMBER] : null;
  } catch {
    return null;
  }
}
