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
  yield* raiseSettingsVersion("rows");
}

/** Returns undefined if there is no recipient of this kind with this id. */
export function* findRecipient(kind: string, id: string): Steps<Recipient | undefined> {
  const row = yield* first(selectRecipients().where("kind", "=", kind).where("id", "=", id));
  return row && toRecipient(row);
}

/** The endpoint of a recipient of whatever kind; undefined if there is none with this id. */
export function* findEndpointIdOf(recipientId: string): Steps<string | undefined> {
  const rows = query.selectFrom("recipient").select("endpoint_id").where("id", "=", recipientId);
  return (yield* first(rows))?.endpoint_id;
}

/** The recipients of a kind, oldest first. @param endpointIds null means every endpoint. */
export function* listRecipients(kind: string, endpointIds: readonly string[] | null): Steps<Recipient[]> {
  const rows = selectRecipients().where("kind", "=", kind).orderBy("id");
  const wanted = endpointIds === null ? rows : rows.where(isOfEndpoints(endpointIds));
  return (yield* all(wanted)).map(toRecipient);
}

export interface RecipientFilter {
  readonly kind: string;
  /** Null means every endpoint. */
  readonly endpointIds: readonly string[] | null;
  /** Whether only recipients that fail, are stopped or are disabled are listed. */
  readonly idleOrFailing: boolean;
}

/** Up to `limit` recipients, oldest first. @param after the id of the last one on the page before; null gives the first page. */
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

/** A condition on `recipient`. The ids are one parameter, because an owner may have more endpoints than a statement takes parameters. */
function isOfEndpoints(endpointIds: readonly string[]) {
  return sql<boolean>`endpoint_id IN ${listed(endpointIds)}`;
}

/** Up to `limit` recipients of every kind that have conditions, ordered by endpoint. @param endpointIds null means every endpoint. */
export function* listConditioned(endpointIds: readonly string[] | null, limit: number): Steps<Recipient[]> {
  let rows = selectRecipients().where("conditions", "is not", null);
  if (endpointIds !== null) rows = rows.where(isOfEndpoints(endpointIds));
  return (yield* all(rows.orderBy("endpoint_id").orderBy("id").limit(limit))).map(toRecipient);
}

/** The enabled recipients of every kind. */
export function* listEnabledRecipients(): Steps<EnabledRecipient[]> {
  const rows = selectRecipients()
    .innerJoin("endpoint", "endpoint.id", "recipient.endpoint_id")
    .select("endpoint.workspace_id")
    .where("recipient.state", "=", "enabled")
    .orderBy("recipient.id");
  return (yield* all(rows)).map(toEnabled);
}

/** Whether there are several workspaces, with or without recipients. */
export function* areSeveralWorkspaces(): Steps<boolean> {
  return (yield* all(query.selectFrom("workspace").select("id").limit(2))).length > 1;
}

/** Records when the recipient agreed to get messages. @param at from this time on messages are queued for it; null ends that. */
export function* setConfirmed(id: string, at: number | null): Steps<void> {
  yield* run(query.updateTable("recipient").set({ confirmed_at: at }).where("id", "=", id));
  yield* raiseSettingsVersion("rows");
}

/** Sets which submissions the recipient gets from now on. @param conditions as `checkConditions` returned them. */
export function* setWanted(
  id: string,
  { maxSpamScore, conditions }: Pick<Recipient, "maxSpamScore" | "conditions">,
): Steps<void> {
  const wanted = { max_spam_score: maxSpamScore, conditions: writeConditions(conditions) };
  yield* run(query.updateTable("recipient").set(wanted).where("id", "=", id));
  yield* raiseSettingsVersion("rows");
}

/**
 * Enables or disables a recipient. Enabling also clears its failures, and deliveries begin one at a time. `alignDeliveries` then holds or
 * releases its deliveries.
 */
export function* setRecipientEnabled(id: string, isEnabled: boolean): Steps<void> {
  const row = query.updateTable("recipient").where("id", "=", id);
  if (isEnabled) {
    yield* run(row.set({ state: "enabled", ...forgiven() }).where("state", "!=", "enabled"));
  } else {
    // A stopped recipient can be disabled too: its owner then knows of the problem, and needs no more reports.
    yield* run(row.set({ state: "disabled" }));
  }
  yield* raiseSettingsVersion("rows");
}

/**
 * Forgets the failures of a recipient whose address is another one now; deliveries begin one at a time. One that its failures stopped is
 * enabled, and `alignDeliveries` then releases its deliveries. One that its owner disabled stays so.
 */
export function* forgetFailures(id: string): Steps<void> {
  const row = query.updateTable("recipient").where("id", "=", id);
  const known = row.where((eb) =>
    eb.or([
      eb("breaker", "!=", "closed"),
      eb("not_before", ">", 0),
      eb("failing_since", "is not", null),
      eb("gone_at", "is not", null),
    ]),
  );
  yield* run(known.set(forgiven()));
  yield* run(row.where("state", "=", "stopped").set({ state: "enabled" }));
  yield* raiseSettingsVersion("rows");
}

function forgiven() {
  return { ...breakerColumns(RECOVERING), gone_at: null, failing_since: null, refusals: 0 };
}

/**
 * Deletes a recipient with the rows of its transport and its deliveries. Deliveries are deleted in batches, so that no transaction is long.
 */
export async function deleteRecipient(db: Database, id: string, now: number): Promise<void> {
  await db.transaction(() => setRecipientEnabled(id, false));
  const some = query.selectFrom("delivery").select(["id", "submission_id"]).where("recipient_id", "=", id);
  // A body is deleted with the last delivery of its submission, so no message to the recipient may be left in the outbox.
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
    yield* raiseSettingsVersion("rows");
  });
}

/** The kinds of these recipients, by their ids. */
export function* readKinds(ids: readonly string[]): Steps<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = query
    .selectFrom("recipient")
    .select(["id", "kind"])
    .where("id", "in", [...new Set(ids)]);
  return new Map((yield* all(rows)).map(({ id, kind }) => [id, kind]));
}

/** The number of recipients of a kind in each state. Enabled recipients that get only probes count as `failing`. */
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
