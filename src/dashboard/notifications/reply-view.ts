import { toIsoTime } from "../../foundation/clock.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import type { Brand } from "../../foundation/brand.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { AutoReply } from "../../mail/auto-reply/auto-reply.ts";
import type { ShownAutoReply } from "../../mail/auto-reply/auto-reply-json.ts";
import { zonedTime } from "../../mail/compose/mailed-event.ts";
import { replyOf } from "../../mail/auto-reply/compose-auto-reply.ts";
import { describeLimit, type ReplyLimits } from "../../mail/auto-reply/reply-limits.ts";
import { textOf } from "../../mail/compose/mail-parts.ts";
import type { RecipientQueue } from "../../outbox/queue/count-deliveries.ts";
import { changedNotice } from "../kit/changed-notice.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { pathOf } from "../forms/endpoint-frame.ts";
import { type Problems, problemSummary } from "../kit/field.ts";
import { type Health, healthPill } from "./health.ts";
import { replyFields, type TypedReply, typedFrom, wordsOf } from "./reply-form.ts";
import type { DestinationFault } from "../../outbox/sending/destinations.ts";
import { waitingFor } from "./recipient-words.ts";
import { exactTime } from "../kit/time.ts";

/** What the page of an automatic reply shows. */
export interface ReplyView {
  readonly endpoint: Endpoint;
  readonly shown: ShownAutoReply;
  /** Null if there never was a reply. */
  readonly queue: RecipientQueue | null;
  /** The fault of the mail server; null if it works. */
  readonly fault: DestinationFault | null;
  /** The fields that could have the visitor's address. */
  readonly fields: readonly string[];
  /** The addresses that could get answers. */
  readonly recipients: readonly string[];
  /** `mail.from`; null without a mail server. */
  readonly from: string | null;
  readonly isOperator: boolean;
  /** The fingerprint of the settings when the form was opened. */
  readonly fingerprint: string;
  readonly now: number;
  /** The time zone of the times in its e-mails. */
  readonly timeZone: string;
  readonly brand: Brand;
}

export interface EditedReply {
  readonly typed: TypedReply;
  readonly problems: Problems;
  /** Whether somebody else changed it while the form was open. */
  readonly isLate?: boolean;
}

export function replyView(view: ReplyView, { typed, problems, isLate = false }: EditedReply): Html {
  const { endpoint, shown, fields, recipients, from, fingerprint } = view;
  if (fields.length === 0 && shown.reply === undefined) return noField(endpoint);
  const isOn = shown.reply !== undefined && shown.reply.onSince !== null;
  const path = pathOf(endpoint, "/reply");
  return html`${problemSummary(problems)}${isLate && changedNotice(changesOf(view, typed))}
    ${from === null && html`<p class="notice bad">${missing(view)}</p>`} ${isOn && lostField(view)}
    <div class="two">
      <div>
        <section class="card">
          <header>
            <h2>Automatic reply</h2>
            ${healthPill(stateOf(shown.reply, view.fault))}
          </header>
          <form class="stacked letter" method="post" action="${path}" data-unsaved>
            <input type="hidden" name="seen" value="${fingerprint}" />
            <p>
              Whoever writes gets an e-mail with your text at once, to the address in the form.${
                !isOn && html` It is off until you turn it on.`
              }
            </p>
            ${replyFields({ typed, problems, fields, recipients, language: endpoint.settings.language ?? "en" })}
            <div>
              <button class="primary" name="action" value="save">${isOn ? "Save" : "Save and turn on"}</button>
              <button name="action" value="preview" formaction="${path}#preview">Show how it looks</button>
            </div>
          </form>
        </section>
        ${previewCard(view, typed)}
      </div>
      <div>${isOn && stateCard(view, path)} ${limitsCard(shown.limits)}</div>
    </div>`;
}

/** @param fault the fault of the mail server, which makes all replies wait; null if it works */
export function stateOf(reply: AutoReply | undefined, fault: DestinationFault | null): Health {
  if (reply === undefined || reply.onSince === null)
    return { label: "Off", tone: "", sentence: html`Nobody gets a reply.` };
  if (fault !== null) return waitingFor(fault);
  return { label: "On", tone: "done", sentence: html`On since ${exactTime(reply.onSince)}.` };
}

function missing({ isOperator }: ReplyView): string {
  const why = "E-mail is not set up on this server, so nobody gets a reply.";
  if (!isOperator) return `${why} Ask whoever runs it.`;
  return `${why} Write mail.host and mail.from into the configuration and restart the server; docs/notifications.md has an example.`;
}

/** The present values of the settings that differ from what was typed. */
function changesOf({ shown, fields }: ReplyView, typed: TypedReply): string[] {
  const now = typedFrom(shown, fields);
  const lines = [
    now.text !== typed.text && `the text is: ${now.text === "" ? "the usual one" : now.text}`,
    now.subject !== typed.subject && `the subject is: ${now.subject === "" ? "the usual one" : now.subject}`,
    now.field !== typed.field && `the field with the address is: ${now.field}`,
    now.replyTo !== typed.replyTo && `the answers go to: ${now.replyTo === "" ? NOBODY_NAMED : now.replyTo}`,
  ];
  const changed = lines.filter((line) => line !== false);
  return changed.length > 0 ? changed : ["it has what you typed"];
}

function noField(endpoint: Endpoint): Html {
  return emptyCard(
    "Nobody can be replied to",
    "An automatic reply goes to the address that somebody wrote into the form, and this form has no field for an e-mail address. Add one, or give a field the format “email”.",
    html`<a class="button primary" href="${pathOf(endpoint, "/fields")}">Change the fields</a>`,
  );
}

/** A warning that the reply's field is gone, because the schema was changed after the reply was turned on. */
function lostField({ shown: { reply }, fields }: ReplyView): Html | null {
  const field = reply?.settings.field ?? "";
  if (fields.includes(field)) return null;
  return html`<p class="notice bad">
    Nobody gets a reply: the field “<bdi>${field}</bdi>” is no longer one for an e-mail address. Choose another one and save, or turn
    the reply off.
  </p>`;
}

function stateCard({ shown, queue, fault }: ReplyView, path: string): Html {
  const { reply, limits, fullLimit } = shown;
  const waiting = queue?.waiting ?? 0;
  return html`<section class="card">
    <header><h2>Now</h2></header>
    <div class="body">
      <p>${stateOf(reply, fault).sentence}</p>
      <p>
        ${
          reply?.sentAt === undefined || reply.sentAt === null
            ? html`No reply was sent yet.`
            : html`The last one was sent at ${exactTime(reply.sentAt)}.`
        }
        ${waiting > 0 && html`${waiting === 1 ? "One is" : `${waiting} are`} to be sent.`}
      </p>
      ${
        fullLimit !== null &&
        html`<p class="notice warn">
          The limit of ${describeLimit(fullLimit, limits)} is reached. Posts are stored as always, and whoever writes gets no reply for now.
        </p>`
      }
      <form method="post" action="${path}/off"><button>Turn it off</button></form>
    </div>
  </section>`;
}

/** The words for who gets the answers if no recipient was chosen. */
const NOBODY_NAMED = "the sender of this server’s e-mail";

function previewCard({ endpoint, now, ...view }: ReplyView, typed: TypedReply): Html {
  const words = wordsOf(typed);
  const from = view.from ?? NOBODY_NAMED;
  const receivedAt = zonedTime(toIsoTime(now), view.timeZone);
  const language = endpoint.settings.language ?? "en";
  const post = { endpointName: endpoint.name, reference: EXAMPLE_REFERENCE, receivedAt, language };
  const { subject, blocks } = replyOf(words, post);
  const rows: readonly (readonly [string, string])[] = [
    ["From", `${endpoint.name} <${from}>`],
    ["To", "whoever wrote"],
    ["Answers go to", typed.replyTo === "" ? from : typed.replyTo],
    ["Subject", subject],
    ["Text", textOf(blocks, view.brand).trim()],
  ];
  return html`<section class="card" aria-labelledby="preview">
    <header><h2 id="preview">How it looks</h2></header>
    <dl>
      ${rows.map(([label, value]) => html`<div><dt>${label}</dt><dd dir="auto">${value}</dd></div>`)}
    </dl>
  </section>`;
}

const EXAMPLE_REFERENCE = "sub_01h455vb4pex5vsknk084sn02q";

function limitsCard({ perWorkspacePerHour, perHour }: ReplyLimits): Html {
  return html`<section class="card">
    <header><h2>Who gets one</h2></header>
    <div class="body">
      <p>
        Anybody can write somebody else’s address into a form. Replies to people who never wrote are called backscatter; they annoy, and
        mail servers then refuse this one. So a reply has nothing in it of what was written, and goes out only
      </p>
      <ul>
        <li>about a post with a spam score of 25 or less, whose hidden field is empty,</li>
        <li>once in 24 hours to one address,</li>
        <li>20 times in an hour for this form, 3 times for one network,</li>
        <li>
          ${perWorkspacePerHour} times in an hour for its workspace${perHour !== null && html`, ${perHour} times for all workspaces together`},
        </li>
        <li>to no address of a program, like noreply,</li>
        <li>and never a second time.</li>
      </ul>
    </div>
  </section>`;
}
