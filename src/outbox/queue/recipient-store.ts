import { type Selectable, sql } from "kysely";
import { type Database, query } from "../../database/database.ts";
import { writeSlice } from "../../database/slices.ts";
import { raiseSettingsVersion } from "../../database/settings-version.ts";
import { all, first, run, type Steps } from "../../database/steps.ts";
import type { Tables } from "../../database/tables.generated.ts";
import { listed } from "../../database/list-parameter.ts";
import { HEALTHY, RECOVERING } from "../sending/breaker.ts";
import { readConditions, writeConditions } from "./conditions.ts";
import { BULK_BATCH } from "./delivery.ts";
import { deleteDeliveriesOfOne } from "./delivery-retention.ts";
import type { EnabledRecipient, NewRecipient, Recipient } from "./recipient.ts";
import { spread, spreadOutbox } from "../sending/spread-outbox.ts";

export function* insertRecipient(made: NewRecipient, now: number): Steps<void> {
  yield* run(
    query.insertInto("recipient").values({
      id: made.id,
      kind: made.kind,
      endpoint_id: made.endpointId,
      max_spam_score: made.maxSpamScore,
      conditions: writeConditions(made.conditions ?? []),
      state: "enabled",
      ...breakerColumns(HEALTHY),
      gone_at: null,
      failing_since: null,
      confirmed_at: made.confirmedAt,
      created_at: now,
    }),
  );
  yield* raiseSettingsVersion();
}

/** Undefined when there is none of this kind. */
export function* findRecipient(kind: string, id: string): Steps<Recipient | undefined> {
  const row = yield* first(selectRecipients().where("kind", "=", kind).where("id", "=", id));
  return row && toRecipient(row);
}

/** The endpoint of a recipient of whatever kind; undefined if there is none with this id. */
export function* findEndpointIdOf(recipientId: string): Steps<string | undefined> {
  const rows = query.selectFrom("recipient").select("endpoint_id").where("id", "=", recipientId);
  return (yield* first(rows))?.endpoint_id;
}

/** Oldest first. @param endpointIds null is every endpoint. */
export function* listRecipients(kind: string, endpointIds: readonly string[] | null): Steps<Recipient[]> {
  const rows = selectRecipients().where("kind", "=", kind).orderBy("id");
  const wanted = endpointIds === null ? rows : rows.where(isOfEndpoints(endpointIds));
  return (yield* all(wanted)).map(toRecipient);
}

export interface RecipientFilter {
  readonly kind: string;
  /** Null is every endpoint. */
  readonly endpointIds: readonly string[] | null;
  /** Only those that fail, are stopped or are disabled. */
  readonly idleOrFailing: boolean;
}

/** Up to `limit`, oldest first. @param after the id of the last one of the page before; null is the first page. */
export function* listSomeRecipients(
  { kind, endpointIds, idleOrFailing }: RecipientFilter,
  after: string | null,
  limit: number,
): Steps<Recipient[]> {
  let rows = selectRecipients().where("kind", "=", kind).orderBy("id").limit(limit);
  if (endpointIds !== null) rows = rows.where(isOfEndpoints(endpointIds));
  if (idleOrFailing)
    rows = rows.where((eb) => eb.or([eb("state", "<>", "enabled"), eb("failing_since", "is not", null)]));
  if (after !== null) rows = rows.where("id", ">", after);
  return (yield* all(rows)).map(toRecipient);
}

/** For `recipient`. One parameter, because an owner may have more endpoints than a statement takes parameters. */
function isOfEndpoints(endpointIds: readonly string[]) {
  return sql<boolean>`endpoint_id IN ${listed(endpointIds)}`;
}

/** Up to `limit` of those that have conditions, of every kind, those of an endpoint together. @param endpointIds null is every endpoint */
export function* listConditioned(endpointIds: readonly string[] | null, limit: number): Steps<Recipient[]> {
  let rows = selectRecipients().where("conditions", "is not", null);
  if (endpointIds !== null) rows = rows.where(isOfEndpoints(endpointIds));
  return (yield* all(rows.orderBy("endpoint_id").orderBy("id").limit(limit))).map(toRecipient);
}

/** Of every kind. */
export function* listEnabledRecipients(): Steps<EnabledRecipient[]> {
  const rows = selectRecipients()
    .innerJoin("endpoint", "endpoint.id", "recipient.endpoint_id")
    .select("endpoint.workspace_id")
    .where("recipient.state", "=", "enabled")
    .orderBy("recipient.id");
  return (yield* all(rows)).map(toEnabled);
}

/** Whether there are several workspaces, whether or not they have recipients. */
export function* areSeveralWorkspaces(): Steps<boolean> {
  return (yield* all(query.selectFrom("workspace").select("id").limit(2))).length > 1;
}

/** @param at when it agreed: from then on messages are queued for it; null queues none any more. */
export function* setConfirmed(id: string, at: number | null): Steps<void> {
  yield* run(query.updateTable("recipient").set({ confirmed_at: at }).where("id", "=", id));
  yield* raiseSettingsVersion();
}

/** Which submissions it gets from now on. @param conditions as `checkConditions` returned them */
export function* setWanted(
  id: string,
  { maxSpamScore, conditions }: Pick<Recipient, "maxSpamScore" | "conditions">,
): Steps<void> {
  const wanted = { max_spam_score: maxSpamScore, conditions: writeConditions(conditions) };
  yield* run(query.updateTable("recipient").set(wanted).where("id", "=", id));
  yield* raiseSettingsVersion();
}

/**
 * Enabling also forgives what went before: deliveries start with one at a time. `alignDeliveries` then moves the
 * deliveries to where they belong.
 */
export function* setRecipientEnabled(id: string, isEnabled: boolean): Steps<void> {
  const row = query.updateTable("recipient").where("id", "=", id);
  if (isEnabled) {
    const forgiven = { ...breakerColumns(RECOVERING), gone_at: null, failing_since: null, refusals: 0 };
    yield* run(row.set({ state: "enabled", ...forgiven }).where("state", "!=", "enabled"));
  } else {
    // A stopped one can be disabled too: its owner then knows of it, and needs no more reports.
    yield* run(row.set({ state: "disabled" }));
  }
  yield* raiseSettingsVersion();
}

/** Deletes it with its transport's rows and its deliveries, these in batches, so that no transaction is long. */
export async function deleteRecipient(db: Database, id: string, now: number): Promise<void> {
  await db.transaction(() => setRecipientEnabled(id, false));
  const some = query.selectFrom("delivery").select(["id", "submission_id"]).where("recipient_id", "=", id);
  // A body is deleted with the last delivery of its submission, so no delivery may be left in the outbox.
  await spreadOutbox(db, now);
  let deleted = BULK_BATCH;
  while (deleted === BULK_BATCH) {
    deleted = await writeSlice(db, function* () {
      yield* spread(Number.POSITIVE_INFINITY, now);
      return yield* deleteDeliveriesOfOne(yield* all(some.limit(BULK_BATCH)));
    });
  }
  await db.transaction(function* () {
    yield* spread(Number.POSITIVE_INFINITY, now);
    yield* deleteDeliveriesOfOne(yield* all(some));
    yield* run(query.deleteFrom("recipient").where("id", "=", id));
    yield* raiseSettingsVersion();
  });
}

/** The kind of each of these recipients, by its id. */
export function* readKinds(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = query
    .selectFrom("recipient")
    .select(["id", "kind"])
    .where("id", "in", [...new Set(ids)]);
  return new Map((yield* all(rows)).map(({ id, kind }) => [id, kind]));
}

/** How many recipients of a kind are in each state. Enabled ones that get probes only count as `failing` instead. */
export function* countRecipients(kind: string): Steps<Map<string, number>> {
  const counts = new Map<string, number>(COUNTED_STATES.map((state) => [state, 0]));
  const rows = query.selectFrom("recipient").select(["state", "breaker"]).where("kind", "=", kind);
  for (const { state, breaker } of yield* all(rows)) {
    const shown = state === "enabled" && breaker === "open" ? "failing" : state;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  return counts;
}

const COUNTED_STATES = ["enabled", "disabled", "stopped", "failing"] as const;

function selectRecipients() {
  return query.selectFrom("recipient").selectAll("recipient");
}

function breakerColumns({ state, count, notBeforeMs }: Recipient["breaker"]) {
  return { breaker: state, breaker_count: count, not_before: notBeforeMs };
}

function toEnabled(
  row: Selectable<Tables["recipient"]> & { readonly workspace_id: string },
): EnabledRecipient {
  return { ...toRecipient(row), workspaceId: row.workspace_id };
}

function toRecipient(row: Selectable<Tables["recipient"]>): Recipient {
  return {
    id: row.id,
    kind: row.kind,
    endpointId: row.endpoint_id,
    maxSpamScore: row.max_spam_score,
    conditions: readConditions(row.conditions),
    state: row.state,
    breaker: { state: row.breaker, count: row.breaker_count, notBeforeMs: row.not_before },
    goneAt: row.gone_at,
    failingSince: row.failing_since,
    refusals: row.refusals,
    confirmedAt: row.confirmed_at,
    createdAt: row.created_at,
  };
}
