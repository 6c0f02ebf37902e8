import type { Database } from "../../database/database.ts";
import { html, type Html } from "../../foundation/html.ts";
import { type ShownKinds, listShownDeliveries } from "../../outbox/queue/shown-deliveries.ts";
import { MAIL_KIND } from "../../mail/recipients/mail-recipient.ts";
import {
  DELIVERY_STATES,
  type Attempt,
  type Delivery,
  type DeliveryState,
  isGathered,
} from "../../outbox/queue/delivery.ts";
import { findLastAttempt, leadOf } from "../../outbox/queue/delivery-store.ts";
import { hideNetwork } from "../../webhooks/hide-network.ts";
import { attemptWords, deliveryWords, stateWords, togetherWords } from "./delivery-words.ts";
import { readTitles } from "../inbox/read-titles.ts";
import type { Visit } from "../routes.ts";
import { dueTime, time, tryTime } from "../kit/time.ts";

/** A message with the last attempt that has ended; null before the first. */
interface DeliveryRow {
  readonly delivery: Delivery;
  readonly last: Attempt | null;
  /** The title of its submission; null if that was not read. */
  readonly title: string | null;
}

export interface DeliveryList {
  /** The kind of the recipient. */
  readonly kind: string;
  readonly now: number;
  readonly rows: readonly DeliveryRow[];
  /** Null means all states. */
  readonly state: DeliveryState | null;
  readonly nextCursor: string | null;
}

const PAGE_SIZE = 25;

/** The messages to a recipient, for the `state` and `cursor` of the page. @throws the errors of {@link listShownDeliveries} */
export async function readDeliveryList(
  db: Database,
  kinds: ShownKinds,
  recipientId: string,
  { query, viewer, now }: Pick<Visit, "query" | "viewer" | "now">,
): Promise<DeliveryList> {
  const state = DELIVERY_STATES.find((each) => each === query.get("state")) ?? null;
  const filter = { recipientId, submissionId: null, state, cursor: query.get("cursor"), limit: PAGE_SIZE };
  const { deliveries, nextCursor } = await db.read(() => listShownDeliveries(kinds, filter));
  const titles = await readTitles(
    db,
    deliveries.map(({ submissionId }) => submissionId),
  );
  const rows = await db.read(function* () {
    const read: DeliveryRow[] = [];
    for (const delivery of deliveries) {
      const found = yield* findLastAttempt(leadOf(delivery));
      const last = found === undefined ? null : hideNetwork(found, viewer.isOperator);
      const title = titles.get(delivery.submissionId) ?? null;
      read.push({ delivery, last, title });
    }
    return read;
  });
  return { kind: kinds.kind, now, rows, state, nextCursor };
}

/** The messages to one recipient, in pages. @param path the path of the recipient's page */
export function deliveriesCard(path: string, list: DeliveryList): Html {
  const { state, nextCursor } = list;
  return html`<section class="card" aria-labelledby="messages">
    <header><h2 id="messages">Messages</h2></header>
    <nav class="bar" aria-label="Which messages">
      ${chip(path, "All", null, state)} ${DELIVERY_STATES.map((each) => chip(path, stateWords(each).label, each, state))}
    </nav>
    ${list.rows.length === 0 ? html`<p class="empty">${noMessages(list)}</p>` : deliveryTable(path, list)}
    ${
      nextCursor !== null &&
      html`<div class="pages">
        <span></span><a href="${path}?${state === null ? "" : `state=${state}&`}cursor=${nextCursor}">Older messages</a>
      </div>`
    }
  </section>`;
}

function chip(path: string, label: string, value: DeliveryState | null, chosen: DeliveryState | null): Html {
  const to = value === null ? path : `${path}?state=${value}`;
  return html`<a class="chip" href="${to}" ${value === chosen && html` aria-current="true"`}>${label}</a> `;
}

function noMessages({ state, nextCursor }: DeliveryList): string {
  if (nextCursor !== null) return "None of the newest messages is in this state.";
  return state === null ? "No messages yet." : "No messages in this state.";
}

function deliveryTable(path: string, list: DeliveryList): Html {
  return html`<form method="post" action="${path}/replay">
    <div class="scroll wide folds" tabindex="0" role="region" aria-label="Table of messages">
      <table class="messages">
        <colgroup>
          <col class="c-pick" />
          <col />
          <col class="c-state" />
          <col class="c-last" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col" class="pick"><span class="hidden-text">Chosen</span><input type="checkbox" data-select-all aria-label="Choose all" /></th>
            <th scope="col">Submission of</th>
            <th scope="col">Message</th>
            <th scope="col">Last attempt</th>
          </tr>
        </thead>
        <tbody data-rows>
          ${list.rows.map((row) => deliveryRow(path, row, list))}
        </tbody>
      </table>
    </div>
    <div class="bar bulk below"><button name="which" value="chosen">Send the chosen again</button></div>
  </form>`;
}

function deliveryRow(
  path: string,
  { delivery, last, title }: DeliveryRow,
  { kind, now }: DeliveryList,
): Html {
  const { id, submissionId, attempts, dueAt, others } = delivery;
  const { label, tone } = deliveryWords(delivery, now);
  const isWaiting = isGathered(delivery, now);
  const called = title ?? `…${submissionId.slice(-6)}`;
  return html`<tr>
    <td class="pick"><input type="checkbox" name="id" value="${id}" aria-label="Choose the message about ${called}" /></td>
    <td><a href="/dashboard/submissions/${submissionId}"><bdi class="said">${called}</bdi></a></td>
    <td>
      <span class="pill ${tone}">${label}</span> <a href="${path}/deliveries/${id}">${isWaiting ? "with others" : attemptWords(attempts)}</a>
      ${others > 0 && html`<small>${togetherWords(others)}</small>`}
    </td>
    <td>
      ${
        last !== null
          ? lastAttempt(kind, last)
          : isWaiting
            ? html`<span class="muted">goes ${dueTime(dueAt ?? now)}</span>`
            : html`<span class="muted">—</span>`
      }${dueAt !== null && attempts > 0 && html`<small>next ${tryTime(dueAt, now)}</small>`}
    </td>
  </tr>`;
}

function lastAttempt(kind: string, { startedAt, message, status }: Attempt): Html {
  const taken = kind === MAIL_KIND ? "The mail server took it." : `Answered ${status}.`;
  const said = message ?? (status === null ? "" : taken);
  return html`<bdi class="said" dir="auto">${said.slice(0, 160)}</bdi><small>${time(startedAt)}</small>`;
}
