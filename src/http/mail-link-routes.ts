import type { FastifyInstance, FastifyReply } from "fastify";
import { describeError, FormsvcError } from "../foundation/errors.ts";
import { html, type Html } from "../foundation/html.ts";
import type { Log } from "../foundation/log.ts";
import type { LinkedRecipient, MailLinkKind, MailLinks } from "../mail/mail-links.ts";
import { beginErrorReply } from "./error-reply.ts";
import { FORM_TYPES } from "./form-body.ts";
import { type Blindness, refusalOf } from "./health-routes.ts";
import { pagePolicy, sendPage, visitorPage } from "./visitor-page.ts";

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
      const page = visitorPage(
        "This did not work",
        errorView(describeError(error.code).error, error.message),
      );
      return sendPage(reply, page, POLICY);
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

interface View {
  readonly title: string;
  readonly content: (facts: { readonly address: Html; readonly form: Html }) => Html;
}

const ASKED: Readonly<Record<MailLinkKind, View>> = {
  confirm: {
    title: "Get these e-mails?",
    content: ({
      address,
      form,
    }) => html`<p>The submissions of the form ${form} would be sent to ${address}.</p>
<p>If you did not expect this, close the page: nothing is sent then.</p>
<form method="post"><button>Yes, send them to me</button></form>`,
  },
  unsubscribe: {
    title: "Stop these e-mails?",
    content: ({ address, form }) => html`<p>The submissions of the form ${form} are sent to ${address}.</p>
<form method="post"><button>Stop sending them to me</button></form>`,
  },
};

const DONE: Readonly<Record<MailLinkKind, View>> = {
  confirm: {
    title: "You get these e-mails now",
    content: ({ address, form }) => html`<p>New submissions of the form ${form} are sent to ${address}.</p>
<p>Each e-mail has a link that stops them.</p>`,
  },
  unsubscribe: {
    title: "You get no more of these e-mails",
    content: ({ address, form }) =>
      html`<p>Submissions of the form ${form} are not sent to ${address} any more.</p>
<p>If you want them again, ask the owner of the form.</p>`,
  },
};

function show(reply: FastifyReply, kind: MailLinkKind, recipient: LinkedRecipient): FastifyReply {
  return sendView(reply, (recipient.isUnsubscribed ? DONE : ASKED)[kind], recipient);
}

function sendView(reply: FastifyReply, { title, content }: View, recipient: LinkedRecipient): FastifyReply {
  const facts = {
    address: html`<bdi>${recipient.address}</bdi>`,
    form: html`“<bdi>${recipient.endpointName}</bdi>”`,
  };
  return sendPage(reply, visitorPage(title, html`<h1>${title}</h1>\n${content(facts)}`), POLICY);
}

function errorView(title: string, sentence: string): Html {
  return html`<h1>This did not work</h1>\n<p>${sentence}</p>\n<p class="facts">${title}</p>`;
}
