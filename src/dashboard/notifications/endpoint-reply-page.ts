import type { Endpoint } from "../../endpoints/endpoint.ts";
import { getViewableEndpoint } from "../../endpoints/endpoint-store.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import {
  changedMeanwhile,
  fingerprintOf,
  setReply,
  turnOffReply,
} from "../../mail/auto-reply/auto-reply-operations.ts";
import { findAutoReplyOf } from "../../mail/auto-reply/auto-reply-store.ts";
import { getsAnswers } from "../../mail/auto-reply/check-auto-reply-settings.ts";
import { replyLimitsOf } from "../../mail/auto-reply/reply-limits.ts";
import { showAutoReply } from "../../mail/auto-reply/show-auto-reply.ts";
import { listMailFields } from "../../mail/compose/mail-fields.ts";
import { listMailRecipients } from "../../mail/recipients/mail-recipient-store.ts";
import { readQueue } from "../../outbox/queue/count-deliveries.ts";
import { type Answer, page, redirect } from "../answer.ts";
import { endpointFrame, pathOf } from "../forms/endpoint-frame.ts";
import { NO_PROBLEMS } from "../kit/field.ts";
import { readMailFault } from "./mail-fault.ts";
import { UTC } from "../../mail/compose/mailed-event.ts";
import { readBrand, readTimeZone } from "../../workspaces/workspace-settings.ts";
import type { DashboardParts } from "../parts.ts";
import { type CheckedReply, checkTyped, readTyped, type TypedReply, typedFrom } from "./reply-form.ts";
import { type EditedReply, type ReplyView, replyView } from "./reply-view.ts";
import type { Routes, Visit } from "../routes.ts";
import { sentence } from "../kit/sentence.ts";

const SECTION = "/reply";

/** `/dashboard/endpoints/:id/reply`: the automatic reply to people who post, a preview of it, and the switch that turns it on and off. */
export function endpointReplyPages(routes: Routes, parts: DashboardParts): void {
  const { db } = parts;

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<Endpoint> =>
    db.read(() => getViewableEndpoint(viewer, params["id"] ?? ""));

  routes.read("/endpoints/:id/reply", async (visit) => {
    const view = await read(parts, visit, await owned(visit));
    return answer(view, { typed: typedFrom(view.shown, view.fields), problems: NO_PROBLEMS }, 200);
  });

  routes.write("/endpoints/:id/reply", async (visit) => {
    const endpoint = await owned(visit);
    const typed = readTyped(visit.form);
    const problems = new Map<string, string>();
    const change = checkTyped(problems, typed);
    const seen = visit.form.get("seen") ?? "";
    if (change === null) return again(visit, endpoint, { typed, problems, fingerprint: seen }, 422);
    if (visit.form.get("action") === "preview")
      return again(visit, endpoint, { typed, problems, fingerprint: seen }, 200);
    return save(visit, endpoint, { typed, change });
  });

  routes.write("/endpoints/:id/reply/off", async (visit) => {
    const endpoint = await owned(visit);
    await visit.perform(turnOffReply, { endpoint: endpoint.id });
    return redirect(pathOf(endpoint, SECTION), "reply-off");
  });

  async function save(
    visit: Visit,
    endpoint: Endpoint,
    { typed, change }: { readonly typed: TypedReply; readonly change: CheckedReply },
  ): Promise<Answer> {
    const basedOn = visit.form.get("seen") ?? "";
    const guard = function* () {
      if (basedOn !== fingerprintOf(yield* findAutoReplyOf(endpoint.id))) throw changedMeanwhile();
    };
    try {
      const { replyTo: reply_to, ...rest } = change;
      await visit.perform(setReply, { endpoint: endpoint.id, reply_to, ...rest }, guard);
      return redirect(pathOf(endpoint, SECTION), "reply-on");
    } catch (error) {
      if (!(error instanceof FormsvcError)) throw error;
      const view = await read(parts, visit, endpoint);
      if (view.fingerprint !== basedOn)
        return answer(view, { typed, problems: NO_PROBLEMS, isLate: true }, 409);
      if (!["usage", "not_found", "conflict"].includes(error.code)) throw error;
      const field = error.code === "usage" ? "field" : "reply_to";
      return answer(view, { typed, problems: new Map([[field, sentence(error.message)]]) }, 422);
    }
  }

  async function again(
    visit: Visit,
    endpoint: Endpoint,
    { fingerprint, ...edited }: EditedReply & { readonly fingerprint: string },
    status: number,
  ): Promise<Answer> {
    return answer({ ...(await read(parts, visit, endpoint)), fingerprint }, edited, status);
  }
}

function read(
  { db, config }: DashboardParts,
  { now, viewer }: Visit,
  endpoint: Endpoint,
): Promise<ReplyView> {
  const { host, from } = config.mail;
  return db.read(function* () {
    const shown = yield* showAutoReply(endpoint, replyLimitsOf(config), now);
    const queue = shown.reply === undefined ? null : yield* readQueue(shown.reply.id);
    const recipients = (yield* listMailRecipients(endpoint.id)).filter(getsAnswers);
    return {
      endpoint,
      shown,
      queue,
      fault: yield* readMailFault(config),
      fields: yield* listMailFields(endpoint),
      recipients: recipients.map(({ settings }) => settings.address),
      from: host === null ? null : from,
      isOperator: viewer.isOperator,
      fingerprint: fingerprintOf(shown.reply),
      now,
      timeZone: (yield* readTimeZone(endpoint.workspaceId)) ?? UTC,
      brand: yield* readBrand(endpoint.workspaceId),
    };
  });
}

function answer(view: ReplyView, edited: EditedReply, status: number): Answer {
  const { endpoint } = view;
  const content = replyView(view, edited);
  return page(`${endpoint.name}: automatic reply`, endpointFrame(endpoint, SECTION, content), status);
}
