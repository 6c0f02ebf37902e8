import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FormsvcError } from "../../foundation/errors.ts";
import type { Caller } from "../../submissions/receive/authenticate.ts";
import { isOwnOrigin } from "./form-addresses.ts";
import { checkMediaType, mediaType, MULTIPART } from "../posts/form-body.ts";
import { blankForm } from "./form-fields.ts";
import { blankPage, type PageLook, thanksPage } from "./form-page.ts";
import { prefersJson } from "../prefers-json.ts";
import { beginPost, type CallerParts, lookAround, type PostParts } from "../posts/receive-post.ts";
import { pageChallenge, withChallenge } from "./page-challenge.ts";
import { ownPagePolicy, pagePolicy, sendPage } from "../visitors/visitor-page.ts";
import { visitorWording } from "../visitors/visitor-language.ts";

/** The path before a form's id, or before its name, which leads to the form that has had it there for the longest time. */
export const OWN_PAGE_PATH = "/p/";

interface OwnPageParts extends PostParts {
  readonly baseUrl: string | null;
}

interface OwnPageRequest {
  readonly Params: { readonly form: string };
}

/** The routes of forms' own pages and of the posts from them. @param take stores the form and answers */
export function ownPageRoutes(
  scope: FastifyInstance,
  parts: OwnPageParts,
  take: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  scope.get<OwnPageRequest>("/p/:form", async (request, reply) => {
    const caller = await findPage(parts, request, request.params.form);
    const { endpoint, schema, honeypots } = caller.ready;
    if (endpoint.state === "paused") throw new FormsvcError("forbidden", "This endpoint is paused.");
    const look = lookOf(caller);
    const asked = {
      definition: schema.definition,
      unknownFields: endpoint.settings.unknownFields,
      honeypots,
      fileBounds: parts.uploads.limits,
    };
    const challenge = pageChallenge(endpoint.settings.challenge, { form: endpoint.id });
    const wording = visitorWording(request, caller);
    const form = { ...blankForm(asked, wording), challenge };
    const html = blankPage(wording, look, form, honeypots[0] ?? null);
    return sendPage(reply, html, withChallenge(policyOf(look), challenge));
  });
  scope.post<OwnPageRequest>("/p/:form", {
    onRequest: (request, reply, done) => {
      const { origin, host, "content-type": type } = request.headers;
      checkMediaType(type);
      // Another page must not send the form in this page's name, because the page needs no key.
      if (!isOwnOrigin(origin, parts.baseUrl, host))
        throw new FormsvcError("forbidden", "A form's own page is sent from that page only.");
      const sender = {
        authorization: undefined,
        source: { origin, fromBrowser: true },
        isMultipart: mediaType(type) === MULTIPART,
        wantsPage: !prefersJson(request.headers.accept),
        find: () => findPage(parts, request, request.params.form),
      };
      beginPost(parts, { request, reply }, sender, done);
    },
    handler: take,
  });
}

/** Finds the form whose own page is requested. @throws not_found, unavailable */
export async function findPage(parts: CallerParts, request: FastifyRequest, form: string): Promise<Caller> {
  lookAround(parts);
  const caller = await parts.gatekeeper.ofPage(form, request.clientAddress);
  if (caller === null) throw new FormsvcError("not_found");
  return caller;
}

export function sendThanks(request: FastifyRequest, reply: FastifyReply, caller: Caller): FastifyReply {
  const look = lookOf(caller);
  return sendPage(reply, thanksPage(visitorWording(request, caller), look), policyOf(look));
}

/** The content policy that allows the page's colour and logo. */
export function policyOf({ logo, brand }: PageLook): string {
  return ownPagePolicy(pagePolicy([], null, brand.colour), logo);
}

export function lookOf({ ready: { endpoint, brand } }: Caller): PageLook {
  const { title, intro, logo, thanks, colour } = endpoint.settings.page;
  return {
    title: title ?? endpoint.name,
    intro,
    logo,
    thanks,
    brand: { ...brand, colour: colour ?? brand.colour },
  };
}
