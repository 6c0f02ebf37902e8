import { isDeepStrictEqual } from "node:util";
import { FormsvcError } from "../foundation/errors.ts";
import { createRecipient } from "../mail/recipients/ask-recipient.ts";
import { setReply, turnOffReply } from "../mail/auto-reply/auto-reply-operations.ts";
import { mailRecipientOperations, setRecipient } from "../mail/recipients/recipient-operations.ts";
import { createWebhook, setWebhook, webhookOperations } from "../webhooks/webhook-operations.ts";
import { type FormsChange, type Difference, NOTHING_TO_SHOW } from "./change.ts";
import type { Condition } from "../outbox/queue/conditions.ts";
import {
  type FileEndpoint,
  type FileRecipient,
  type FileReply,
  type FileWebhook,
  RECIPIENT_SETTINGS,
  REPLY_SETTINGS,
  WEBHOOK_SETTINGS,
} from "./forms-file.ts";
import { conditionsOf, countingIn, recipientKey, shownUrl, webhookKey } from "./match-recipients.ts";
import type { ShownRecipient, ShownReply, ShownWebhook } from "./read-current.ts";

/** An endpoint of the file. Its id is null until the endpoint is made, unless it exists already. */
export interface EndpointCell {
  readonly workspace: string;
  readonly name: string;
  id: string | null;
}

/** The changes to make, and the existing members that the file does not name. */
interface Members<Member> {
  readonly changes: readonly FormsChange[];
  readonly others: readonly Member[];
  /** Existing members that equal a member of the file without their conditions on fields that the form lost earlier. They stay. */
  readonly alike: readonly Member[];
}

/** The fields of the form, as they are and as they will be. */
export interface Schemas {
  readonly before: FileEndpoint["schema"];
  readonly after: FileEndpoint["schema"];
}

/** The webhooks or recipients of an endpoint. */
interface Current<Member> {
  readonly known: readonly Member[];
  readonly schemas: Schemas;
}

export function planWebhooks(
  cell: EndpointCell,
  wanted: readonly FileWebhook[],
  { known, schemas }: Current<ShownWebhook>,
): Members<ShownWebhook> {
  return planMembers(cell, wanted, known, {
    schemas,
    keyOf: webhookKey,
    created: createdWebhook,
    changed: changedWebhook,
  });
}

function createdWebhook(cell: EndpointCell, webhook: FileWebhook): FormsChange {
  const { enabled = true, headers, url: given, ...settings } = webhook;
  const url = valueOf(given);
  const known = headers && { headers: valuesOf(headers) };
  return {
    verb: "create",
    kind: "webhook",
    name: nameOf(cell, shownUrl(webhook)),
    differences: [],
    makesSecret: webhook.format === "standard",
    async run(perform) {
      const made = await perform(createWebhook, {
        ...settings,
        ...known,
        endpoint: idOf(cell),
        url,
        only_new: true,
      });
      const { id } = made.webhook;
      if (!enabled) await perform(webhookOperations.disable, { webhook: id });
      const warnings =
        made.refused === null ? [] : [`webhook ${nameOf(cell, made.webhook.url)}: ${made.refused}`];
      if (made.secret === null) return { secrets: [], warnings };
      const { workspace, name: endpoint } = cell;
      const secret = { secret: made.secret, publishable: null, webhook: { id, url: made.webhook.url } };
      return { secrets: [{ workspace, endpoint, endpointId: idOf(cell), ...secret }], warnings };
    },
  };
}

/** The changes of a webhook. The values of headers are never shown, so the headers are set only if their names differ. */
function changedWebhook(cell: EndpointCell, webhook: FileWebhook, known: ShownWebhook): FormsChange[] {
  const own = differencesOf(webhook, known, WEBHOOK_SETTINGS);
  const { headers } = webhook;
  const names = Object.keys(headers ?? {}).toSorted();
  const hasOthers = headers !== undefined && !isDeepStrictEqual(names, known.headers.toSorted());
  const differences = hasOthers ? [...own, { member: "headers", from: known.headers, to: names }] : own;
  const name = nameOf(cell, known.url);
  const changes: FormsChange[] = [];
  if (differences.length > 0) {
    const input = { ...valuesAfter(own), ...(hasOthers && { headers: valuesOf(headers) }) };
    changes.push(
      changeOf("webhook", name, differences, async (perform) => {
        await perform(setWebhook, { webhook: known.id, ...input });
      }),
    );
  }
  const switched = differenceOfState(webhook, known);
  if (switched === null) return changes;
  const operation = switched.to ? webhookOperations.enable : webhookOperations.disable;
  changes.push(
    changeOf("webhook", name, [switched], async (perform) => {
      await perform(operation, { webhook: known.id });
    }),
  );
  return changes;
}

export function deletedWebhook(cell: EndpointCell, { id, url }: ShownWebhook): FormsChange {
  return deletionOf("webhook", nameOf(cell, url), async (perform) => {
    await perform(webhookOperations.delete, { webhook: id });
  });
}

export function planRecipients(
  cell: EndpointCell,
  wanted: readonly FileRecipient[],
  { known, schemas }: Current<ShownRecipient>,
): Members<ShownRecipient> {
  return planMembers(cell, wanted, known, {
    schemas,
    keyOf: recipientKey,
    created: createdRecipient,
    changed: changedRecipient,
  });
}

function createdRecipient(cell: EndpointCell, { enabled = true, ...settings }: FileRecipient): FormsChange {
  return {
    verb: "create",
    kind: "recipient",
    name: nameOf(cell, settings.address),
    differences: [],
    makesSecret: false,
    async run(perform) {
      const { recipient } = await perform(createRecipient, { endpoint: idOf(cell), ...settings });
      // A recipient whose holder is asked first gets nothing until they agree, and cannot be switched.
      if (!enabled && hasAgreed(recipient))
        await perform(mailRecipientOperations.disable, { recipient: recipient.id });
      return NOTHING_TO_SHOW;
    },
  };
}

function changedRecipient(
  cell: EndpointCell,
  recipient: FileRecipient,
  known: ShownRecipient,
): FormsChange[] {
  const name = nameOf(cell, known.address);
  const differences = differencesOf(recipient, known, RECIPIENT_SETTINGS);
  const changes: FormsChange[] = [];
  if (differences.length > 0)
    changes.push(
      changeOf("recipient", name, differences, async (perform) => {
        await perform(setRecipient, { recipient: known.id, ...valuesAfter(differences) });
      }),
    );
  const switched = differenceOfState(recipient, known);
  if (switched === null || !hasAgreed(known)) return changes;
  const operation = switched.to ? mailRecipientOperations.enable : mailRecipientOperations.disable;
  changes.push(
    changeOf("recipient", name, [switched], async (perform) => {
      await perform(operation, { recipient: known.id });
    }),
  );
  return changes;
}

/** The change that switches it on or off; null if it stays as it is. */
function differenceOfState(
  { enabled }: { readonly enabled?: boolean | undefined },
  { state }: { readonly state: string },
): Difference | null {
  if (enabled === undefined || enabled === (state !== "disabled")) return null;
  return { member: "enabled", from: !enabled, to: enabled };
}

/** Whether the holder of the address wants e-mail. No file decides that. */
export function hasAgreed({ state }: ShownRecipient): boolean {
  return state !== "unconfirmed" && state !== "unsubscribed";
}

export function deletedRecipient(cell: EndpointCell, { id, address }: ShownRecipient): FormsChange {
  return deletionOf("recipient", nameOf(cell, address), async (perform) => {
    await perform(mailRecipientOperations.delete, { recipient: id });
  });
}

/** @param wanted null turns the reply off @param current null for an endpoint that does not exist yet */
export function planReply(
  cell: EndpointCell,
  wanted: FileReply | null,
  current: ShownReply | null,
): FormsChange[] {
  const isOn = current?.state === "on";
  if (wanted === null) {
    if (!isOn) return [];
    const off = [{ member: "state", from: "on", to: "off" }];
    return [
      changeOf("autoreply", nameOf(cell), off, async (perform) => {
        await perform(turnOffReply, { endpoint: idOf(cell) });
      }),
    ];
  }
  const own = differencesOf(wanted, current ?? {}, REPLY_SETTINGS);
  const differences = isOn ? own : [{ member: "state", from: "off", to: "on" }, ...own];
  if (differences.length === 0) return [];
  return [
    changeOf("autoreply", nameOf(cell), differences, async (perform) => {
      await perform(setReply, { endpoint: idOf(cell), ...wanted });
    }),
  ];
}

/** How members of one kind are identified, made and changed. */
interface MemberPlan<Wanted, Known> {
  readonly schemas: Schemas;
  readonly keyOf: (member: Wanted | Known) => readonly unknown[];
  readonly created: (cell: EndpointCell, wanted: Wanted) => FormsChange;
  readonly changed: (cell: EndpointCell, wanted: Wanted, known: Known) => readonly FormsChange[];
}

/**
 * Finds for each member of the file the one that is there. If none has the same conditions, it is one whose other conditions are on fields
 * that the form has lost or loses now.
 */
function planMembers<Wanted extends object, Known extends object>(
  cell: EndpointCell,
  wanted: readonly Wanted[],
  current: readonly Known[],
  { schemas: { before, after }, keyOf, created, changed }: MemberPlan<Wanted, Known>,
): Members<Known> {
  const text = (member: Wanted | Known): string => JSON.stringify(keyOf(member));
  const named = new Map(wanted.map((member) => [text(member), member]));
  const left = new Map(current.map((member) => [text(member), member]));
  const found = new Map<Wanted, Known>();
  for (const [key, member] of left) {
    const like = named.get(key);
    if (like !== undefined && left.delete(key)) found.set(like, member);
  }
  for (const [key, member] of left) {
    const like = named.get(text(countingIn(member, before, after)));
    if (like !== undefined && !found.has(like) && left.delete(key)) found.set(like, member);
  }
  const changes = wanted.flatMap((member) => {
    const known = found.get(member);
    if (known === undefined) return [created(cell, member)];
    const isShown = ({ field }: Condition) => Object.hasOwn(before, field) || Object.hasOwn(after, field);
    const shown = conditionsOf(known).filter(isShown);
    return changed(cell, { ...member, conditions: conditionsOf(member) }, { ...known, conditions: shown });
  });
  const isAlike = (member: Known): boolean => named.has(text(countingIn(member, before)));
  const others = [...left.values()];
  return { changes, others: others.filter((each) => !isAlike(each)), alike: others.filter(isAlike) };
}

/** The given members of the file whose shown values differ. A value that is never shown cannot be compared, and is left alone. */
export function differencesOf(wanted: object, known: object, names: readonly string[]): Difference[] {
  const [to, from] = [wanted as Record<string, unknown>, known as Record<string, unknown>];
  return names.flatMap((member) => {
    const isGiven = to[member] !== undefined && Object.hasOwn(from, member);
    if (!isGiven || isDeepStrictEqual(to[member], from[member])) return [];
    return [{ member, from: from[member], to: to[member] }];
  });
}

export function valuesAfter(differences: readonly Difference[]): Record<string, unknown> {
  return Object.fromEntries(differences.map(({ member, to }) => [member, to]));
}

export function nameOf({ workspace, name }: EndpointCell, what?: string): string {
  return what === undefined ? `${workspace}/${name}` : `${workspace}/${name} ${what}`;
}

export function idOf({ id, name }: EndpointCell): string {
  if (id === null) throw new Error(`the endpoint ${name} has no id yet`);
  return id;
}

export function changeOf(
  kind: FormsChange["kind"],
  name: string,
  differences: readonly Difference[],
  work: (perform: Parameters<FormsChange["run"]>[0]) => Promise<void>,
): FormsChange {
  const run: FormsChange["run"] = async (perform) => {
    await work(perform);
    return NOTHING_TO_SHOW;
  };
  return { verb: "change", kind, name, differences, makesSecret: false, run };
}

export function deletionOf(
  kind: FormsChange["kind"],
  name: string,
  work: (perform: Parameters<FormsChange["run"]>[0]) => Promise<void>,
): FormsChange {
  return { ...changeOf(kind, name, [], work), verb: "delete" };
}

/** The value of a variable, or the value itself. @throws usage naming the variable that is not set */
function valueOf(value: string | { readonly env: string }): string {
  if (typeof value === "string") return value;
  throw new FormsvcError(
    "usage",
    `the environment variable ${value.env} is not set; the file takes a secret from it`,
  );
}

function valuesOf(headers: NonNullable<FileWebhook["headers"]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, valueOf(value)]));
}
