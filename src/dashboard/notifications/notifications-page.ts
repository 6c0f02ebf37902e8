import type { Endpoint } from "../../endpoints/endpoint.ts";
import { readSchema } from "../../endpoints/endpoint-store.ts";
import type { Condition } from "../../outbox/queue/conditions.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { MaybeLater } from "../../foundation/maybe-later.ts";
import type { AutoReply } from "../../mail/auto-reply/auto-reply.ts";
import { REPLIES } from "../../mail/auto-reply/auto-reply-store.ts";
import { MAIL_KIND, type MailRecipient } from "../../mail/recipients/mail-recipient.ts";
import { MAIL_RECIPIENTS } from "../../mail/recipients/mail-recipient-store.ts";
import { listOwned, type Owned } from "../../recipients/reach-recipient.ts";
import type { AnyRecipient, RecipientType } from "../../recipients/recipient-type.ts";
import { readQueue, type RecipientQueue } from "../../outbox/queue/count-deliveries.ts";
import type { Viewer } from "../../sessions/session.ts";
import { WEBHOOKS } from "../../webhooks/webhook-store.ts";
import { type Webhook, WEBHOOK_KIND } from "../../webhooks/webhook.ts";
import { seesSeveralWorkspaces } from "../../workspaces/workspace-store.ts";
import { labelWorkspaces } from "../../workspaces/label-workspaces.ts";
import { page } from "../answer.ts";
import { recipientPath } from "./recipient-paths.ts";
import { conditionsSentence } from "./condition-words.ts";
import { emptyCard } from "../kit/empty-card.ts";
import { pathOf } from "../forms/endpoint-frame.ts";
import { stateOf as replyState } from "./reply-view.ts";
import { formName } from "../forms/form-name.ts";
import { type Health, healthPill, queueCell } from "./health.ts";
import { listCard } from "../kit/list-card.ts";
import type { DashboardParts } from "../parts.ts";
import { readMailFault } from "./mail-fault.ts";
import type { DestinationFault } from "../../outbox/sending/destinations.ts";
import { readEvidence } from "./read-evidence.ts";
import { recipientHealth } from "./recipient-words.ts";
import { mailMissing } from "../../mail/health/mail-missing.ts";
import type { Routes } from "../routes.ts";
import { exactTime } from "../kit/time.ts";
import { healthOf, type WebhookEvidence } from "./webhook-words.ts";

const PAGE_SIZE = 50;
const PATH = "/dashboard/notifications";

/** What a row shows of a recipient of any kind. */
interface Row {
  readonly id: string;
  /** The path of its page. */
  readonly path: string;
  readonly name: string;
  readonly health: Health;
  /** Null if all is well. */
  readonly failingSince: number | null;
  readonly endpoint: Endpoint;
  /** The conditions of its messages; empty if it gets all. */
  readonly conditions: readonly Condition[];
}

interface ShownRow extends Row {
  /** The form's name, with its workspace if the viewer sees several. */
  readonly form: Html;
  readonly queue: RecipientQueue;
  /** The conditions in words; null if there are none. */
  readonly onlyIf: Html | null;
}

interface List {
  readonly rows: readonly ShownRow[];
  /** The address of the next page; null at the end. */
  readonly next: string | null;
  readonly isFirst: boolean;
}

interface Found {
  /** The rows of one page, and one more if there are more. */
  readonly rows: readonly Row[];
  /** The parameter of the address after which row the page begins. */
  readonly parameter: string;
  readonly isFirst: boolean;
}

/**
 * `/dashboard/notifications`: who gets messages about submissions, by e-mail and by webhooks, with their health; and the automatic replies.
 */
export function notificationsPages(routes: Routes, parts: DashboardParts): void {
  const { db, config } = parts;
  routes.read("/notifications", async ({ viewer, query, now }) => {
    const fault = await db.read(() => readMailFault(config));
    const find = async <Of extends AnyRecipient>(
      type: RecipientType<Of>,
      parameter: string,
      rowOf: (owned: Owned<Of>) => MaybeLater<Row>,
    ): Promise<Found> => {
      const after = query.get(parameter);
      const owned = await db.read(() => listOwned(viewer, type, after, PAGE_SIZE + 1));
      return {
        rows: await Promise.all(owned.map(async (each) => rowOf(each))),
        parameter,
        isFirst: after === null,
      };
    };
    const mail = await find(MAIL_RECIPIENTS, "mail_after", (each) => mailRow(each, fault));
    const webhooks = await find(WEBHOOKS, "after", async (each) =>
      webhookRow(each, await readEvidence(parts, viewer, each.recipient)),
    );
    const replies = await find(REPLIES, "replies_after", (each) => replyRow(each, fault));
    const nameForm = await formNames(
      viewer,
      [mail, webhooks, replies].flatMap(({ rows }) => rows),
    );
    const content = html`<div class="head"><h1>Notifications</h1></div>
      ${mailCard(await readList(mail, nameForm), mailMissing(config, viewer), now)}
      ${webhooksCard(await readList(webhooks, nameForm), now)}
      ${repliesCard(await readList(replies, nameForm), now)}`;
    return page("Notifications", content);
  });

  /** Returns how the rows name their forms. */
  function formNames(viewer: Viewer, rows: readonly Row[]): Promise<(endpoint: Endpoint) => Html> {
    return Promise.resolve(
      db.read(function* () {
        const showsWorkspace = yield* seesSeveralWorkspaces(viewer);
        const labels = yield* labelWorkspaces(rows.map(({ endpoint }) => endpoint.workspaceId));
        return ({ id, name, workspaceId }: Endpoint): Html => {
          const workspaceName = labels.get(workspaceId) ?? "";
          return formName({ id, name, workspaceId, workspaceName }, showsWorkspace);
        };
      }),
    );
  }

  async function readSentence({ endpoint, conditions }: Row): Promise<Html | null> {
    return conditionsSentence(conditions, await db.read(() => readSchema(endpoint)));
  }

  async function readList(
    { rows: found, parameter, isFirst }: Found,
    nameForm: (endpoint: Endpoint) => Html,
  ): Promise<List> {
    const rows: ShownRow[] = [];
    for (const row of found.slice(0, PAGE_SIZE)) {
      rows.push({
        ...row,
        form: nameForm(row.endpoint),
        queue: await db.read(() => readQueue(row.id)),
        onlyIf: row.conditions.length === 0 ? null : await readSentence(row),
      });
    }
    const next = found.length > PAGE_SIZE ? `${PATH}?${parameter}=${rows.at(-1)?.id}` : null;
    return { rows, next, isFirst };
  }
}

function mailRow({ recipient, endpoint }: Owned<MailRecipient>, fault: DestinationFault | null): Row {
  const { id, settings, failingSince } = recipient;
  const health = recipientHealth(recipient, fault);
  const path = recipientPath(MAIL_KIND, id);
  return {
    id,
    path,
    name: settings.address,
    health,
    failingSince,
    endpoint,
    conditions: settings.conditions,
  };
}

function webhookRow({ recipient: webhook, endpoint }: Owned<Webhook>, evidence: WebhookEvidence): Row {
  const { id, settings, failingSince } = webhook;
  const name = new URL(settings.url).host;
  const health = healthOf(webhook, evidence);
  const path = recipientPath(WEBHOOK_KIND, id);
  return { id, path, name, health, failingSince, endpoint, conditions: settings.conditions };
}

function replyRow({ recipient: reply, endpoint }: Owned<AutoReply>, fault: DestinationFault | null): Row {
  const { name } = endpoint;
  const path = pathOf(endpoint, "/reply");
  const health = replyState(reply, fault);
  return { id: reply.id, path, name, health, failingSince: null, endpoint, conditions: [] };
}

/** The automatic replies. They are set up on the page of an endpoint. */
function repliesCard({ rows, next, isFirst }: List, now: number): Html {
  if (rows.length === 0 && isFirst) return NO_REPLY;
  return listCard({
    header: html`<h2>Automatic replies</h2>`,
    label: "Automatic replies",
    columns: ["Form", "State", "Messages"],
    rows: rows.map((row) => replyView(row, now)),
    next,
  });
}

function replyView({ path, form, health, queue }: ShownRow, now: number): Html {
  return html`<tr>
    <th scope="row"><a class="link" href="${path}">${form}</a></th>
    <td>${healthPill(health)}</td>
    <td data-label="Messages">${queueCell(queue, now)}</td>
  </tr>`;
}

const NO_REPLY = html`<p class="hint">
  A form can also answer whoever writes: turn on the automatic reply on the page of the
  <a href="/dashboard/endpoints">form</a>.
</p>`;

function mailCard({ rows, next, isFirst }: List, missing: string | null, now: number): Html {
  if (rows.length === 0 && isFirst)
    return missing === null ? NO_MAIL : emptyCard("No e-mail yet", missing, html``);
  const add = html`<a class="button" href="/dashboard/recipients/new">Add a recipient</a>`;
  return html`${missing !== null && html`<p class="notice bad">${missing}</p>`}
    ${listCard({
      header: html`<h2>E-mail</h2>${missing === null && add}`,
      label: "E-mail recipients",
      columns: ["Address", "Health", "Messages", "Form"],
      rows: rows.map((row) => rowView(row, now)),
      next,
    })}`;
}

const NO_MAIL = emptyCard(
  "Nobody gets e-mail yet",
  "Who should know when somebody writes? Each new submission goes to this address, one by one or gathered.",
  html`<a class="button primary" href="/dashboard/recipients/new">Add an e-mail recipient</a>`,
);

function webhooksCard({ rows, next, isFirst }: List, now: number): Html {
  if (rows.length === 0 && isFirst) return NO_WEBHOOK;
  return listCard({
    header: html`<h2>Webhooks and chats</h2><a class="button" href="/dashboard/webhooks/new">Add a webhook or chat</a>`,
    label: "Webhooks",
    columns: ["Receiver", "Health", "Messages", "Form"],
    rows: rows.map((row) => rowView(row, now)),
    next,
  });
}

const NO_WEBHOOK = emptyCard(
  "There is no webhook or chat yet",
  "Each new submission is sent on as soon as it is stored: to a chat like Slack, Discord or Telegram, to n8n or Zapier, or to a script of yours.",
  html`<a class="button" href="/dashboard/webhooks/new">Add a webhook or chat</a>`,
);

function rowView({ path, name, health, failingSince, form, queue, onlyIf }: ShownRow, now: number): Html {
  return html`<tr>
    <th scope="row"><a class="link" href="${path}">${name}</a></th>
    <td>
      ${healthPill(health)} ${failingSince !== null && html`<small>since ${exactTime(failingSince)}</small>`}
    </td>
    <td data-label="Messages">${queueCell(queue, now)}</td>
    <td data-label="Form">${form}${onlyIf !== null && html`<small>${onlyIf}</small>`}</td>
  </tr>`;
}
