import { readSchema } from "../../endpoints/endpoint-store.ts";
import { html, type Html } from "../../foundation/html.ts";
import { type Owned, viewRecipient } from "../../recipients/reach-recipient.ts";
import type { AnyRecipient, RecipientType } from "../../recipients/recipient-type.ts";
import { type Answer, page, redirect } from "../answer.ts";
import type { Problems } from "../kit/field.ts";
import type { DashboardParts } from "../parts.ts";
import { Stopped } from "../perform.ts";
import type { Routes, Visit } from "../routes.ts";
import type { FormFields } from "./recipient-form.ts";
import { recipientPath } from "./recipient-paths.ts";

type Act<Result = unknown> = (visit: Visit, id: string) => Promise<Result>;

/** A kind of recipient whose recipients have pages: `/dashboard/webhooks/:id`, `/dashboard/recipients/:id`. */
interface ActPages<Of extends AnyRecipient, Tested> {
  readonly type: RecipientType<Of>;
  /** The first part of the addresses. */
  readonly folder: "recipients" | "webhooks";
  readonly noun: "recipient" | "webhook";
  /** The name of a recipient in a sentence. */
  readonly nameOf: (recipient: Of) => string;
  /** @param tested the result of the test that was just run; null if none was */
  readonly show: (visit: Visit, owned: Owned<Of>, tested: Tested | null) => Promise<Answer>;
  readonly test: Act<Tested>;
  readonly try: Act;
  readonly enable: Act;
  readonly disable: Act;
  readonly delete: Act;
}

const SWITCHES = [
  ["try", "tried-now"],
  ["enable", "sending-started"],
  ["disable", "sending-paused"],
] as const;

/** The routes of a recipient's page: showing it, testing it, trying now, pausing, starting and deleting it. */
export function actPages<Of extends AnyRecipient, Tested>(
  routes: Routes,
  { db }: DashboardParts,
  of: ActPages<Of, Tested>,
): void {
  const { type, folder, noun } = of;
  const one = `/${folder}/:id`;

  /** @throws not_found */
  const owned = ({ viewer, params }: Visit): Promise<Owned<Of>> =>
    Promise.resolve(db.read(() => viewRecipient(viewer, type, params["id"] ?? "")));

  routes.read(one, async (visit) => of.show(visit, await owned(visit), null));

  routes.write(`${one}/test`, async (visit) => {
    const found = await owned(visit);
    return of.show(visit, found, await of.test(visit, found.recipient.id));
  });

  for (const [verb, notice] of SWITCHES)
    routes.write(`${one}/${verb}`, async (visit) => {
      const { id = "" } = visit.params;
      await of[verb](visit, id);
      return redirect(recipientPath(type.kind, id), notice);
    });

  routes.read(`${one}/delete`, async (visit) => {
    const found = await owned(visit);
    return page(`Delete the ${noun}`, deleteView(of, found));
  });

  routes.write(`${one}/delete`, async (visit) => {
    await of.delete(visit, visit.params["id"] ?? "");
    return redirect("/dashboard/notifications", `${noun}-deleted`);
  });
}

function deleteView<Of extends AnyRecipient>(
  { type, noun, nameOf }: Pick<ActPages<Of, unknown>, "type" | "noun" | "nameOf">,
  { recipient, endpoint }: Owned<Of>,
): Html {
  const path = recipientPath(type.kind, recipient.id);
  return html`${recipientCrumbs(path, noun)}
    <div class="head"><h1>Delete this ${noun}?</h1></div>
    <section class="card">
      <div class="body">
        <p>
          Submissions of <bdi>${endpoint.name}</bdi> are no longer sent to <b>${nameOf(recipient)}</b>. All its messages and
          attempts are deleted, those that wait too. The submissions themselves stay.
        </p>
        <div class="actions">
          <form method="post" action="${path}/delete"><button class="danger">Delete the ${noun}</button></form>
          <a class="button" href="${path}">Keep it</a>
        </div>
      </div>
    </section>`;
}

/** A link back to the recipient. */
export function recipientCrumbs(path: string, noun: "recipient" | "webhook"): Html {
  return html`<p class="crumbs"><a href="${path}">← The ${noun}</a></p>`;
}

/** A recipient whose settings are being changed, with the fields of its form. */
export interface Edited<Of> extends Owned<Of> {
  readonly fields: FormFields;
}

/** @throws not_found */
export async function readEdited<Of extends AnyRecipient>(
  { db }: DashboardParts,
  { viewer, params }: Visit,
  type: RecipientType<Of>,
): Promise<Edited<Of>> {
  return db.read(function* () {
    const found = yield* viewRecipient(viewer, type, params["id"] ?? "");
    return { ...found, fields: yield* readSchema(found.endpoint) };
  });
}

/** Stops a change if somebody else changed the settings since the form was shown. @param again shows the form with what was typed */
export function requireSeen(
  { form }: Visit,
  fingerprint: string,
  noun: "recipient" | "webhook",
  again: (problems: Problems) => Promise<Answer>,
): void {
  if (form.get("seen") === fingerprint) return;
  const sentence = `Somebody else changed this ${noun} while you had it open. The form has what you typed; compare it with the ${noun}, and save again to replace theirs.`;
  throw new Stopped(() => again(new Map([["", sentence]])));
}
