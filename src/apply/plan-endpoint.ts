import { isDeepStrictEqual } from "node:util";
import { createEndpoint } from "../endpoints/create-endpoint.ts";
import { checkTask, DEFAULT_HONEYPOTS } from "../endpoints/endpoint.ts";
import { taskSettingsOf } from "../endpoints/endpoint-json.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { plainText } from "../foundation/plain-text.ts";
import { checkLogo } from "../endpoints/own-page.ts";
import { pauseEndpoint, resumeEndpoint, setEndpoint } from "../endpoints/endpoint-operations.ts";
import { setSchema } from "../endpoints/schema-operations.ts";
import { setSpam } from "../endpoints/spam-operations.ts";
import { goneFields } from "../outbox/queue/conditions.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import type { FieldDefinition } from "../schemas/field-definition.ts";
import { checkAskable, isAskable } from "../schemas/form-inputs.ts";
import type { FormsChange } from "./change.ts";
import { chooseReplyField } from "../mail/auto-reply/check-auto-reply-settings.ts";
import { mailFieldsOf } from "../schemas/mail-fields.ts";
import { type FileEndpoint, type FileReply, SETTINGS } from "./forms-file.ts";
import { conditionsOf } from "./match-recipients.ts";
import {
  type Schemas,
  changeOf,
  deletedRecipient,
  deletedWebhook,
  differencesOf,
  type EndpointCell,
  hasAgreed,
  idOf,
  nameOf,
  planRecipients,
  planReply,
  planWebhooks,
} from "./plan-recipients.ts";
import type { CurrentEndpoint, ShownEndpoint } from "./read-current.ts";

/** The changes of one endpoint. */
export interface EndpointPlan {
  readonly changes: readonly FormsChange[];
  /** Deletes what the file does not name. These run after all other changes, and only if pruning was asked for. */
  readonly deletions: readonly FormsChange[];
  readonly kept: readonly string[];
  /** What loses the field that it is about, of what the file does not name; `isDeleted` says what only pruning deletes. */
  readonly lost: readonly { readonly note: string; readonly isDeleted: boolean }[];
}

/** @param workspace returns the workspace's id, which is known only when the endpoint is made */
export function planNewEndpoint(
  wanted: FileEndpoint,
  cell: EndpointCell,
  workspace: () => string,
): EndpointPlan {
  const { name, schema, state, spam, webhooks = [], recipients = [] } = wanted;
  requireTask(wanted, null, cell);
  requireLogo(wanted, null, cell);
  const settings = Object.fromEntries(
    SETTINGS.flatMap((member) => (wanted[member] === undefined ? [] : [[member, wanted[member]]])),
  );
  const created: FormsChange = {
    verb: "create",
    kind: "endpoint",
    name: nameOf(cell),
    differences: [],
    makesSecret: true,
    async run(perform) {
      const answer = await perform(createEndpoint, {
        name,
        schema,
        workspace: workspace(),
        ...settings,
        only_new: true,
      });
      cell.id = answer.endpoint.id;
      const { secret, publishable } = answer.keys;
      const made = { workspace: cell.workspace, endpoint: name, endpointId: cell.id };
      return { secrets: [{ ...made, webhook: null, secret, publishable }], warnings: [] };
    },
  };
  const nothing = { known: [], schemas: { before: schema, after: schema } };
  const changes = [
    created,
    ...(isChosen(spam) ? [spamChange(cell, {}, spam)] : []),
    ...planRecipients(cell, recipients, nothing).changes,
    ...planWebhooks(cell, webhooks, nothing).changes,
    ...planReply(cell, foreseenReply(wanted, null, cell), null),
    ...(state === "paused" ? [stateChange(cell, "active", state)] : []),
  ];
  return { changes, deletions: [], kept: [], lost: [] };
}

/** Orders the changes so that no post is refused that is accepted before and after them, and no message is missed. */
export function planKnownEndpoint(
  wanted: FileEndpoint,
  current: CurrentEndpoint,
  cell: EndpointCell,
): EndpointPlan {
  const { spam, state, autoreply } = wanted;
  const { endpoint } = current;
  requireTask(wanted, endpoint, cell);
  requireLogo(wanted, endpoint, cell);
  if ((wanted.page ?? endpoint.page) === "on") named(cell, () => checkAskable(fieldsOf(wanted.schema)));
  const schemas = { before: endpoint.schema, after: wanted.schema };
  const recipients = planRecipients(cell, wanted.recipients ?? [], { known: current.recipients, schemas });
  const webhooks = planWebhooks(cell, wanted.webhooks ?? [], { known: current.webhooks, schemas });
  const changes = [
    ...fieldChanges(wanted, endpoint, cell),
    ...(spam !== undefined && !isDeepStrictEqual(spam, current.spam.chosen)
      ? [spamChange(cell, current.spam.chosen, spam)]
      : []),
    ...recipients.changes,
    ...webhooks.changes,
    ...(autoreply === undefined ? [] : planReply(cell, foreseenReply(wanted, current, cell), current.reply)),
    ...(state !== undefined && state !== endpoint.state ? [stateChange(cell, endpoint.state, state)] : []),
  ];
  // If the file has no list, the existing recipients are left alone.
  const unnamed = wanted.recipients === undefined ? [] : recipients.others;
  const deletions = [
    ...(wanted.webhooks === undefined ? [] : webhooks.others).map((each) => deletedWebhook(cell, each)),
    ...unnamed.filter(hasAgreed).map((each) => deletedRecipient(cell, each)),
  ];
  const kept = unnamed
    .filter((each) => !hasAgreed(each))
    .map(
      ({ address, state: why }) =>
        `recipient ${nameOf(cell, address)}: it is ${why}, which would be forgotten`,
    );
  const alike = [
    ...recipients.alike.map(({ address }) => `recipient ${nameOf(cell, address)}`),
    ...webhooks.alike.map(({ url }) => `webhook ${nameOf(cell, url)}`),
  ].map((each) => `${each}: it is like one of the file, because the form lost the field of its condition`);
  return {
    changes,
    deletions,
    kept: [...kept, ...alike],
    lost: [
      ...recipients.others.flatMap((each) =>
        lostConditions(
          `recipient ${nameOf(cell, each.address)}`,
          each,
          schemas,
          wanted.recipients !== undefined && hasAgreed(each),
        ),
      ),
      ...webhooks.others.flatMap((each) =>
        lostConditions(`webhook ${nameOf(cell, each.url)}`, each, schemas, wanted.webhooks !== undefined),
      ),
      ...lostReply(wanted, current, cell),
    ],
  };
}

/** What a webhook or recipient that the file does not name loses now. @param isDeleted whether pruning deletes it */
function lostConditions(
  name: string,
  member: object,
  { before, after }: Schemas,
  isDeleted: boolean,
): EndpointPlan["lost"] {
  const fields = goneFields(conditionsOf(member), after).filter((field) => Object.hasOwn(before, field));
  if (fields.length === 0) return [];
  return [
    { note: `${name}: its condition on ${fields.join(", ")} counts as met without that field`, isDeleted },
  ];
}

/** The automatic reply, if the file does not name it and it loses its field now. */
function lostReply(
  { autoreply, schema }: FileEndpoint,
  { reply, endpoint }: CurrentEndpoint,
  cell: EndpointCell,
): EndpointPlan["lost"] {
  const isLost = hasMailField(endpoint.schema, reply.field) && !hasMailField(schema, reply.field);
  if (autoreply !== undefined || reply.state === "off" || !isLost) return [];
  const note = `autoreply ${nameOf(cell)}: it is sent to nobody without ${reply.field ?? ""} as a field of format email`;
  return [{ note, isDeleted: false }];
}

/** Whether this is a field with the address of an automatic reply. */
export function hasMailField(schema: FileEndpoint["schema"], field: string | null): boolean {
  return field !== null && mailFieldsOf(fieldsOf(schema)).includes(field);
}

/** Checks before any change what the operation would refuse. @throws usage naming the endpoint */
function requireTask(wanted: FileEndpoint, current: ShownEndpoint | null, cell: EndpointCell): void {
  const before = current && taskSettingsOf(current);
  named(cell, () => checkTask(taskSettingsOf(wanted, before ?? undefined), before));
}

/** Checks that the logo which the page will have comes from an origin which will be allowed. @throws usage naming the endpoint */
function requireLogo(wanted: FileEndpoint, current: ShownEndpoint | null, cell: EndpointCell): void {
  const logo = wanted.page_logo === undefined ? (current?.page_logo ?? null) : wanted.page_logo;
  const origins = wanted.allowed_origins ?? current?.allowed_origins ?? [];
  if (logo !== null) named(cell, () => void checkLogo(logo, origins));
}

/**
 * The reply with the address for answers in the letters of the recipient that has it. What the operation would refuse is checked before any
 * change. @throws usage naming the endpoint
 */
function foreseenReply(
  { autoreply = null, schema, recipients = [] }: FileEndpoint,
  current: CurrentEndpoint | null,
  cell: EndpointCell,
): FileReply | null {
  if (autoreply === null) return null;
  const { field = current?.reply.field ?? undefined, reply_to: replyTo } = autoreply;
  named(cell, () => void chooseReplyField(cell, mailFieldsOf(fieldsOf(schema)), field));
  if (typeof replyTo !== "string") return autoreply;
  const known = [...(current?.recipients ?? []), ...recipients].find(
    ({ address }) => address.toLowerCase() === replyTo.toLowerCase(),
  );
  if (known !== undefined) return { ...autoreply, reply_to: known.address };
  throw new FormsvcError(
    "usage",
    `${plainText(nameOf(cell))}: ${plainText(replyTo)}, which is to get the answers to the automatic reply, is none of its recipients`,
  );
}

/** Runs a check. @throws the error of the check, with the name of the endpoint */
function named(cell: EndpointCell, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    throw new FormsvcError("usage", `${plainText(nameOf(cell))}: ${error.message}`);
  }
}

/** The fields of a schema that was checked. */
function fieldsOf(schema: FileEndpoint["schema"]): SchemaDefinition {
  return schema as SchemaDefinition;
}

/**
 * The changes of settings and fields. If undeclared fields are to be refused from now on, the new schema is set first. The own page is
 * closed before it could not ask for the new fields, and opened when it can.
 */
function fieldChanges(wanted: FileEndpoint, endpoint: ShownEndpoint, cell: EndpointCell): FormsChange[] {
  const { id, name, schema_version: basedOn } = endpoint;
  const given = { ...wanted, honeypots: wanted.honeypots === null ? DEFAULT_HONEYPOTS : wanted.honeypots };
  const settingsChange = (members: readonly string[]): FormsChange[] => {
    const own = differencesOf(given, endpoint, members);
    const input = Object.fromEntries(
      own.map(({ member }) => [member, (wanted as Record<string, unknown>)[member]]),
    );
    const change = changeOf("endpoint", `${cell.workspace}/${name}`, own, async (perform) => {
      await perform(setEndpoint, { endpoint: id, ...input });
    });
    return own.length === 0 ? [] : [change];
  };
  const all = ["name", ...SETTINGS];
  if (isSameSchema(wanted.schema, endpoint.schema)) return settingsChange(all);
  const fields = fieldDifferences(endpoint.schema, wanted.schema);
  const schema = changeOf("schema", nameOf(cell), fields, async (perform) => {
    await perform(setSchema, { endpoint: id, schema: wanted.schema, based_on: basedOn });
  });
  const isOwn = [wanted.schema, endpoint.schema].every((each) => isAskable(fieldsOf(each)));
  const page = isOwn ? [] : settingsChange(["page"]);
  const settings = settingsChange(isOwn ? all : all.filter((member) => member !== "page"));
  const others = wanted.unknown_fields === "reject" ? [schema, ...settings] : [...settings, schema];
  return wanted.page === "on" ? [...others, ...page] : [...page, ...others];
}

/** The order of fields counts, also in groups, because pages and exports follow it. */
function isSameSchema(one: FileEndpoint["schema"], other: FileEndpoint["schema"]): boolean {
  return isDeepStrictEqual(one, other) && isDeepStrictEqual(namesIn(one), namesIn(other));
}

/** The names of the fields in their order, each with those of the fields inside it. */
function namesIn(schema: FileEndpoint["schema"]): unknown[] {
  const inside = (field: FieldDefinition | undefined): unknown[] =>
    field?.type === "array"
      ? inside(field.items)
      : field?.type === "object"
        ? namesIn({ ...field.properties })
        : [];
  return Object.entries(fieldsOf(schema)).map(([name, field]) => [name, inside(field)]);
}

/** The differences field by field, or the fields that have another order if nothing else differs. */
function fieldDifferences(from: Record<string, unknown>, to: Record<string, unknown>) {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const fields = differencesOf(withNulls(to, names), withNulls(from, names), names);
  if (fields.length > 0) return fields;
  if (!isDeepStrictEqual(Object.keys(from), Object.keys(to)))
    return [{ member: "fields", from: Object.keys(from), to: Object.keys(to) }];
  return names
    .filter((name) => !isSameSchema({ [name]: from[name] }, { [name]: to[name] }))
    .map((member) => ({ member, from: from[member], to: to[member] }));
}

function withNulls(fields: Record<string, unknown>, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, Object.hasOwn(fields, name) ? fields[name] : null]));
}

function spamChange(
  cell: EndpointCell,
  from: object,
  choices: NonNullable<FileEndpoint["spam"]>,
): FormsChange {
  return changeOf("spam", nameOf(cell), spamDifferences(from, choices), async (perform) => {
    await perform(setSpam, { endpoint: idOf(cell), choices, replace: true });
  });
}

export function spamDifferences(from: object, to: object) {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return differencesOf(
    withNulls(to as Record<string, unknown>, names),
    withNulls(from as Record<string, unknown>, names),
    names,
  );
}

export function isChosen<Spam extends object>(spam: Spam | undefined): spam is Spam {
  return spam !== undefined && Object.keys(spam).length > 0;
}

function stateChange(cell: EndpointCell, from: string, to: "active" | "paused"): FormsChange {
  const operation = to === "paused" ? pauseEndpoint : resumeEndpoint;
  return changeOf("endpoint", nameOf(cell), [{ member: "state", from, to }], async (perform) => {
    await perform(operation, { endpoint: idOf(cell) });
  });
}
