import type { FastifyInstance, FastifyReply } from "fastify";
import { describeError, FormsvcError } from "../foundation/errors.ts";
import { html, type Html } from "../foundation/html.ts";
import type { Log } from "../foundation/log.ts";
import type { LinkedRecipient, MailLinkKind, MailLinks } from "../mail/mail-links.ts";
import { beginErrorReply } from "./error-reply.ts";
import { FORM_TYPES } from "./form-body.ts";
import { type Blindness, refusalOf } from "./health-routes.ts";
import { pagePolicy, sendPage, type ServicePage, servicePage } from "./visitor-page.ts";

export interface MailLinkParts {
  /** Null if no mail server is configured: the links of earlier e-mails then lead to no page. */
  readonly mailLinks: MailLinks | null;
  readonly blindness: () => Blindness | null;
  readonly log: Log;
}

interface LinkRequest {
  readonly Params: { readonly id: string; readonly token: string };
}

/** A mail provider sends one line (RFC 8058), our own page nothing. */
const MAX_BODY_BYTES = 4096;

/**
 * `/mail/confirm/…` and `/mail/unsubscribe/…`: the links of e-mails to recipients. GET shows what the link does, POST does it. They
 * are there whether or not the dashboard is.
 */
export function mailLinkRoutes(server: FastifyInstance, { mailLinks, blindness, log }: MailLinkParts): void {
  // Routes all the same, because the log has the whole address of what is none, and with it the token.
  const links = (): MailLinks => {
    if (mailLinks === null) throw new FormsvcError("not_found", "This server sends no e-mail at present.");
    return mailLinks;
  };
  void server.register((scope, _options, done) => {
    // What is sent says nothing that the address does not.
    for (const type of FORM_TYPES)
      scope.addContentTypeParser(type, { parseAs: "buffer" }, (_request, _body, parsed) => parsed(null));
    scope.setErrorHandler((thrown, request, reply) => {
      const error = beginErrorReply({ request, reply, log }, thrown, MAX_BODY_BYTES);
      const { error: name } = describeError(error.code);
      const content = html`<p>${error.message}</p>\n<p class="facts">${name}</p>`;
      return sendPage(
        reply,
        servicePage({ language: "en", title: "This did not work", seal: "stop", content }),
        POLICY,
      );
    });
    scope.addHook("onRequest", async () => {
      const blind = blindness();
      if (blind !== null) throw refusalOf(blind);
    });
    for (const kind of ["confirm", "unsubscribe"] as const) {
      const path = `/mail/${kind}/:id/:token`;
      scope.get<LinkRequest>(path, async ({ params }, reply) =>
        show(reply, kind, await links().read(kind, params.id, params.token)),
      );
      scope.post<LinkRequest>(path, { bodyLimit: MAX_BODY_BYTES }, async ({ params }, reply) =>
        sendView(reply, DONE[kind], await links().act(kind, params.id, params.token)),
      );
    }
    done();
  });
}

const POLICY = pagePolicy([], null);

interface View extends Pick<ServicePage, "title" | "seal"> {
  readonly content: (facts: { readonly address: Html; readonly form: Html }) => Html;
}

/** Whoever has not agreed yet reads no name that an owner chose: it could be a text for strangers. */
const ASKED: Readonly<Record<MailLinkKind, View>> = {
  confirm: {
    title: "May we send you e-mails?",
    seal: "letter",
    content: ({
      address,
    }) => html`<p>Somebody asked that what visitors send through a form also goes to ${address}.</p>
<form method="post"><button>Yes, send them to me</button></form>
<p class="muted">You did not expect this? Close the page. Nothing is sent without your yes, and each e-mail has a link to stop it.</p>`,
  },
  unsubscribe: {
    title: "Stop these e-mails?",
    seal: "letter",
    content: ({
      address,
      form,
    }) => html`<p>What visitors send through the form ${form} goes to ${address} by e-mail.</p>
<form method="post"><button>Stop sending them to me</button></form>
<p class="muted">You want to keep them? Close the page: nothing changes then.</p>`,
  },
};

const DONE: Readonly<Record<MailLinkKind, View>> = {
  confirm: {
    title: "You get these e-mails now",
    seal: "check",
    content: ({
      address,
      form,
    }) => html`<p>What visitors send through the form ${form} from now on goes to ${address}.</p>
<p class="muted">Each e-mail has a link that stops them.</p>`,
  },
  unsubscribe: {
    title: "You get no more of these e-mails",
    seal: "check",
    content: ({ address, form }) =>
      html`<p>What visitors send through the form ${form} does not go to ${address} any more.</p>
<p class="muted">If you want them again, ask the owner of the form.</p>`,
  },
};

function show(reply: FastifyReply, kind: MailLinkKind, recipient: LinkedRecipient): FastifyReply {
  return sendView(reply, (recipient.isUnsubscribed ? DONE : ASKED)[kind], recipient);
}

function sendView(
  reply: FastifyReply,
  { title, seal, content }: View,
  recipient: LinkedRecipient,
): FastifyReply {
  const { address, endpointName, goodUntil } = recipient;
  const facts = { address: html`<b><bdi>${address}</bdi></b>`, form: html`“<bdi>${endpointName}</bdi>”` };
  const below = goodUntil === null ? {} : { below: `The link is good until ${DAY.format(goodUntil)}.` };
  return sendPage(
    reply,
    servicePage({ language: "en", title, seal, content: content(facts), ...below }),
    POLICY,
  );
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
