import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { describeError, FormsvcError } from "../foundation/errors.ts";
import { html } from "../foundation/html.ts";
import type { Log } from "../foundation/log.ts";
import type { Language } from "../languages/language.ts";
import { type TextKey, wordingIn } from "../languages/wording.ts";
import type { LinkedRecipient, MailLinkKind, MailLinks } from "../mail/recipients/mail-links.ts";
import { type DeadLinkPage, languageOf, sendDeadLink } from "./visitors/dead-link-page.ts";
import { beginErrorReply } from "./error-reply.ts";
import { FORM_TYPES } from "./posts/form-body.ts";
import { type NotReadyReason, notReadyError } from "./health-routes.ts";
import { pagePolicy, sendPage, type ServicePage, servicePage } from "./visitors/visitor-page.ts";

export interface MailLinkParts {
  /** Null if no mail server is configured. The links of earlier e-mails then lead to no page. */
  readonly mailLinks: MailLinks | null;
  readonly blindness: () => NotReadyReason | null;
  readonly log: Log;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface LinkRequest {
  readonly Params: { readonly id: string; readonly token: string };
}

/** The largest body that is read. A mail provider sends one line (RFC 8058), our own page nothing. */
const MAX_BODY_BYTES = 4096;

/**
 * `/mail/confirm/…` and `/mail/unsubscribe/…`: the links in e-mails to recipients. GET shows what the link does, POST does it. The routes
 * exist with or without the dashboard.
 */
export function mailLinkRoutes(server: FastifyInstance, { mailLinks, blindness, log }: MailLinkParts): void {
  // The routes exist in any case, because the log shows the whole address of an unknown route, which contains the token.
  const links = (): MailLinks => {
    if (mailLinks === null) throw new FormsvcError("not_found", "This server sends no e-mail at present.");
    return mailLinks;
  };
  void server.register((scope, _options, done) => {
    // The body is ignored, because the address says everything.
    for (const type of FORM_TYPES)
      scope.addContentTypeParser(type, { parseAs: "buffer" }, (_request, _body, parsed) => parsed(null));
    scope.setErrorHandler((thrown, request, reply) => {
      const error = beginErrorReply({ request, reply, log }, thrown, MAX_BODY_BYTES);
      const kind = request.url.startsWith("/mail/confirm") ? "confirm" : "unsubscribe";
      return sendFailure({ request, reply }, error, mailLinks === null ? NO_MAIL : DEAD[kind]);
    });
    scope.addHook("onRequest", async () => {
      const blind = blindness();
      if (blind !== null) throw notReadyError(blind);
    });
    for (const kind of ["confirm", "unsubscribe"] as const) {
      const path = `/mail/${kind}/:id/:token`;
      scope.get<LinkRequest>(path, async (request, reply) =>
        show({ request, reply }, kind, await links().read(kind, request.params.id, request.params.token)),
      );
      scope.post<LinkRequest>(path, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) =>
        sendView(
          { request, reply },
          DONE[kind],
          await links().act(kind, request.params.id, request.params.token),
        ),
      );
      // Mail programs cut long links, or take the full stop or bracket after one for a part of it.
      for (const cut of [`/mail/${kind}`, `/mail/${kind}/*`])
        scope.route({ method: ["GET", "POST"], url: cut, bodyLimit: MAX_BODY_BYTES, handler: refuseCut });
    }
    done();
  });
}

async function refuseCut(): Promise<never> {
  throw new FormsvcError("not_found", "The link is not complete.");
}

/**
 * A page's words, by what its link does. Before a person has agreed, the page shows no name that an owner chose: it could be a text for
 * strangers.
 */
interface View extends Pick<ServicePage, "seal"> {
  readonly title: TextKey;
  readonly text: TextKey;
  /** The button's label; null if there is nothing left to do. */
  readonly button: TextKey | null;
  readonly note: TextKey;
}

const ASKED: Readonly<Record<MailLinkKind, View>> = {
  confirm: {
    seal: "envelope",
    title: "agreeTitle",
    text: "agreeText",
    button: "agreeButton",
    note: "agreeNote",
  },
  unsubscribe: {
    seal: "envelope",
    title: "stopTitle",
    text: "stopText",
    button: "stopButton",
    note: "stopNote",
  },
};

const DONE: Readonly<Record<MailLinkKind, View>> = {
  confirm: { seal: "check", title: "agreedTitle", text: "agreedText", button: null, note: "agreedNote" },
  unsubscribe: {
    seal: "check",
    title: "stoppedTitle",
    text: "stoppedText",
    button: null,
    note: "stoppedNote",
  },
};

function show(exchange: Exchange, kind: MailLinkKind, recipient: LinkedRecipient): FastifyReply {
  return sendView(exchange, (recipient.isUnsubscribed ? DONE : ASKED)[kind], recipient);
}

function sendView(
  { request, reply }: Exchange,
  { title, seal, text, button, note }: View,
  { address, endpointName, goodUntil, timeZone, language: chosen, brand }: LinkedRecipient,
): FastifyReply {
  const language = chosen ?? languageOf(request);
  const wording = wordingIn(language);
  const facts = {
    address: html`<b><bdi>${address}</bdi></b>`,
    form: html`<q><bdi>${endpointName}</bdi></q>`,
  };
  const content = html`<p>${wording.html(text, facts)}</p>
${button !== null && html`<form method="post"><button>${wording.text(button)}</button></form>\n`}<p class="muted">${wording.text(note)}</p>`;
  const day = goodUntil === null ? null : dayIn(language, timeZone, goodUntil);
  const below = day === null ? {} : { below: wording.text("goodUntil", { day }) };
  return sendPage(
    reply,
    servicePage({ language, title: wording.text(title), seal, content, ...below, brand }),
    pagePolicy([], null, brand.colour),
  );
}

/** A day and time such as `29 November at 15:05 CET`. */
function dayIn(language: Language, timeZone: string, ms: number): string {
  const locale = language === "en" ? "en-GB" : language;
  const hour = { hour: "2-digit", minute: "2-digit", timeZone, timeZoneName: "short" } as const;
  return new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", ...hour }).format(ms);
}

/** The same words for every link of a kind, so that they reveal nothing about what exists. */
const DEAD: Readonly<Record<MailLinkKind, DeadLinkPage>> = {
  confirm: { title: "deadTitle", lines: ["deadEntry", "deadLinkNext"] },
  unsubscribe: { title: "deadTitle", lines: ["deadStopLink", "deadStopNext"] },
};
const NO_MAIL: DeadLinkPage = { title: "failedTitle", lines: ["noMail"] };

/** Answers a request whose link leads nowhere, or that cannot be answered now. */
function sendFailure(exchange: Exchange, { code }: FormsvcError, dead: DeadLinkPage): FastifyReply {
  if (code === "not_found") return sendDeadLink(exchange, dead);
  const { error } = describeError(code);
  return sendDeadLink(exchange, { title: "failedTitle", lines: ["tryAgain"], error });
}
