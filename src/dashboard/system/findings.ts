import type { Steps } from "../../database/steps.ts";
import { monthOf } from "../../foundation/clock.ts";
import type { Finding } from "../../foundation/finding.ts";
import { html, type Html } from "../../foundation/html.ts";
import type { Viewer } from "../../sessions/session.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { viewableEndpointIds } from "../../endpoints/endpoint-store.ts";
import { listGoneConditions } from "../../recipients/condition-health.ts";
import { countViewableHeld } from "../../submissions/held/held-health.ts";
import { MAIL_RECIPIENTS } from "../../mail/recipients/mail-recipient-store.ts";
import { findIdle } from "../../recipients/find-idle.ts";
import { findWebhookTroubles } from "../../webhooks/webhook-troubles.ts";
import type { Webhook } from "../../webhooks/webhook.ts";
import { hasReached } from "../../workspaces/usage-mark.ts";
import type { NamedUsage, Plans, Workspace } from "../../workspaces/workspace.ts";
import { listViewableWorkspaces } from "../../workspaces/workspace-store.ts";
import { readUsages } from "../../workspaces/usage-store.ts";
import type { DashboardParts } from "../parts.ts";
import type { FindingLine } from "./finding-line.ts";
import { formLines } from "../forms/form-lines.ts";
import { checkName, findingText } from "./finding-words.ts";
import { recipientPath } from "../notifications/recipient-paths.ts";
import { originLines } from "../forms/refused-origins-lines.ts";
import { exactTime } from "../kit/time.ts";

/** The findings in the viewer's workspaces; for operators also those about the machine. */
export async function readFindings(parts: DashboardParts, viewer: Viewer): Promise<readonly FindingLine[]> {
  const { db, config, clock } = parts;
  const now = clock.now();
  const own = await db.read(function* () {
    const counted = yield* listViewableWorkspaces(viewer, "workspace:usage");
    const changeable = yield* listViewableWorkspaces(viewer, "endpoints:write");
    return [
      ...(yield* webhookLines(viewer, now)),
      ...(yield* mailLines(viewer)),
      ...(yield* conditionLines(viewer)),
      ...(yield* originLines(viewer)),
      ...(yield* limitLines(counted, config.plans, now)),
      ...(yield* heldLines(viewer)),
      ...(yield* formLines(
        changeable.map(({ id }) => id),
        now,
      )),
    ];
  });
  return viewer.isOperator ? [...own, ...machineLines(await parts.examine("lately"))] : own;
}

function* webhookLines(viewer: Viewer, now: number): Steps<FindingLine[]> {
  const { ill, more, failed } = yield* findWebhookTroubles(viewer, now);
  const lines: FindingLine[] = ill.map((webhook) => ({
    text: troubleOf(webhook),
    href: `/dashboard/webhooks/${webhook.id}`,
    label: "See why",
  }));
  if (more > 0) {
    const text =
      more === 1 ? "One more webhook fails or is stopped." : `${more} more webhooks fail or are stopped.`;
    lines.push({ text, href: "/dashboard/notifications", label: "See all" });
  }
  if (failed > 0) {
    const text =
      failed === 1
        ? "One message was given up; it is kept until you send it again."
        : `${atMost(failed)} messages were given up; they are kept until you send them again.`;
    lines.push({ text, href: "/dashboard/notifications", label: "See them" });
  }
  return lines;
}

function troubleOf({ settings, state, failingSince }: Webhook): Html {
  const { host } = new URL(settings.url);
  if (state === "stopped")
    return html`The webhook to ${host} is stopped: the receiver says that it is gone. Nothing is lost.`;
  const since = failingSince === null ? null : html` since ${exactTime(failingSince)}`;
  return html`The webhook to ${host} has failed${since}. Its messages wait, and nothing is lost.`;
}

/** The largest number of stopped recipients that are named; most workspaces have few. */
const MAX_STOPPED = 3;

function* mailLines(viewer: Viewer): Steps<FindingLine[]> {
  const { first, more } = yield* findIdle(
    viewer,
    MAIL_RECIPIENTS,
    MAX_STOPPED,
    ({ state }) => state === "stopped",
  );
  const lines: FindingLine[] = first.map(({ id, settings }) => ({
    text: html`E-mail to ${settings.address} is stopped: the mail server refused several in a row. Nothing is lost.`,
    href: `/dashboard/recipients/${id}`,
    label: "See why",
  }));
  if (more === 0) return lines;
  const text =
    more === 1 ? "E-mail to one more recipient is stopped." : `E-mail to ${more} more recipients is stopped.`;
  return [...lines, { text, href: "/dashboard/notifications", label: "See all" }];
}

/** The largest number of recipients that are named because of a condition on a field that is gone. */
const MAX_GONE_CONDITIONS = 3;

function* conditionLines(viewer: Viewer): Steps<FindingLine[]> {
  const endpointIds = yield* viewableEndpointIds(viewer, "recipients:read");
  const gone = yield* listGoneConditions(endpointIds, MAX_GONE_CONDITIONS);
  return gone.map(({ recipient: { id, kind }, endpoint, fields }) => ({
    text: html`A recipient of “<bdi>${endpoint.name}</bdi>” gets every post that its condition on <bdi>${plainText(fields.join(", "))}</bdi> should keep from it: the form has no such field any more.`,
    href: recipientPath(kind, id),
    label: "See the conditions",
  }));
}

/** The largest number of workspaces that are named because they are close to their monthly limit. */
const MAX_LIMIT_LINES = 3;

function* limitLines(workspaces: readonly Workspace[], plans: Plans, now: number): Steps<FindingLine[]> {
  const usages = yield* readUsages(workspaces, monthOf(now), plans);
  const close = usages.filter(({ used, limit }) => hasReached(used, limit, 80)).slice(0, MAX_LIMIT_LINES);
  return close.map((usage) => ({
    text: limitSentence(usage),
    href: "/dashboard/usage",
    label: "See the usage",
  }));
}

function limitSentence({ name, used, limit }: NamedUsage): string {
  const share = `The workspace “${name}” has used ${used} of ${limit ?? 0} submissions of this month.`;
  return hasReached(used, limit, 100) ? `${share} New posts are refused and held.` : share;
}

function* heldLines(viewer: Viewer): Steps<FindingLine[]> {
  const held = yield* countViewableHeld(viewer);
  if (held === 0) return [];
  const text =
    held === 1
      ? "One refused post is held: look whether it is genuine."
      : `${held} refused posts are held: look whether a genuine one is among them.`;
  return [{ text, href: "/dashboard/held", label: "Look at them" }];
}

/** Checks whose results the lines for owners already show. */
const SHOWN_TO_OWNERS: ReadonlySet<string> = new Set([
  "webhooks.receivers",
  "webhooks.failed",
  "mail.recipients",
  "mail.failed",
  "notifications.conditions",
  "endpoints.origins",
]);

function isShownToOwners({ name, advice }: Finding): boolean {
  const isMissingPlan = typeof advice === "object" && advice?.kind === "configure_or_change_plan";
  return SHOWN_TO_OWNERS.has(name) || (name === "limits.monthly" && !isMissingPlan);
}

function machineLines(findings: readonly Finding[]): FindingLine[] {
  const problems = findings.filter((finding) => !finding.ok && !isShownToOwners(finding));
  return problems.map(({ name, message }) => ({
    text: `${checkName(name)}: ${endedBy(findingText(message))}`,
    href: "/dashboard/system",
    label: "What to do",
  }));
}

/** The text with exactly one full stop at its end. */
function endedBy(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function atMost(count: number): string {
  return count > 10_000 ? "More than 10,000" : String(count);
}
