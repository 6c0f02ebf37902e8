import { sql } from "kysely";
import { query } from "../database/database.ts";
import { all, first, run, type Steps } from "../database/steps.ts";
import { raiseSettingsVersion } from "../database/settings-version.ts";
import type { Tables } from "../database/tables.generated.ts";
import { listed } from "../database/list-parameter.ts";
import { countOf } from "../foundation/count-of.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId, newId } from "../foundation/id.ts";
import { findLanguage } from "../languages/language.ts";
import { parseDefinition, type SchemaDefinition } from "../schemas/definition.ts";
import { findSight, findStanding, seesEndpoint, type Sight } from "../workspaces/standing.ts";
import { getWorkspace, readWorkspaceNames } from "../workspaces/workspace-store.ts";
import type { Access } from "../operations/access.ts";
import { SEES_ALL, type Viewing } from "../operations/actor.ts";
import { type Asking, isInReach } from "../workspaces/reach.ts";
import { checkName, limitsOf, type Plans, type Workspace } from "../workspaces/workspace.ts";
import { checkSettings, checkTask, type Endpoint, type EndpointSettings } from "./endpoint.ts";
import { challengeColumn, readChallengeColumn } from "./challenge.ts";
import { placeOf } from "./page-name.ts";
import { pageColumn, readPageColumn } from "./own-page.ts";

export interface NewEndpoint {
  readonly name: string;
  readonly definition: SchemaDefinition;
  readonly settings: EndpointSettings;
}

/** Call this inside a transaction. @throws usage; plan_limit if the workspace has as many endpoints as its plan allows */
export function* insertEndpointRow(
  workspace: Workspace,
  made: NewEndpoint,
  plans: Plans,
  now: number,
): Steps<Endpoint> {
  const name = checkName(made.name);
  const settings = checkSettings(made.settings);
  checkTask(settings, null);
  yield* checkEndpointLimit(workspace, plans);
  const endpoint: Endpoint = {
    id: newId("ep", now),
    workspaceId: workspace.id,
    name,
    state: "active",
    schemaVersion: 1,
    settings,
    createdAt: now,
  };
  yield* run(
    query.insertInto("endpoint").values({
      id: endpoint.id,
      workspace_id: workspace.id,
      name,
      state: "active",
      schema_version: 1,
      ...toColumns(settings),
      ...(yield* placeOf(endpoint, null)),
      created_at: now,
    }),
  );
  yield* insertSchema(endpoint.id, 1, made.definition, now);
  return endpoint;
}

/** @param workspaceId null means all that are visible */
export function* listEndpoints(workspaceId: string | null, viewing: Viewing = SEES_ALL): Steps<Endpoint[]> {
  const rows = selectVisible(viewing, yield* findSight(viewing)).orderBy("id");
  return (yield* all(workspaceId === null ? rows : rows.where("workspace_id", "=", workspaceId))).map(
    toEndpoint,
  );
}

/**
 * The ids of all endpoints that somebody may see; null means every endpoint.
 *
 * @param access restricts them to workspaces in which the role is enough for it; null means no restriction
 */
export function* viewableEndpointIds(viewing: Viewing, access: Access | null = null): Steps<string[] | null> {
  const sight = yield* findSight(viewing, access);
  if (sight === null) return null;
  const rows = selectVisible(viewing, sight).clearSelect().select("id").orderBy("id");
  return (yield* all(rows)).map(({ id }) => id);
}

/**
 * Finds an endpoint.
 *
 * @param reference an id; or a whole name, if it is unique; or `WORKSPACE/NAME`, split at the first `/`, whose workspace is an id or a name
 * @param workspace id or name of the workspace to look in; null means all
 * @throws not_found, ambiguous
 */
export function* getEndpoint(reference: string, workspace: string | null = null): Steps<Endpoint> {
  return yield* findReferenced(SEES_ALL, reference, workspace);
}

/** How an operation names an endpoint. */
export interface EndpointReference {
  /** A reference as {@link getEndpoint} takes it. */
  readonly endpoint: string;
  readonly workspace?: string | null;
}

/**
 * The endpoint that an operation is about. An endpoint that the actor may not see gets the same error as one that does not exist, and does
 * not count when a name must be unique.
 *
 * @throws not_found, ambiguous, forbidden
 */
export function* reachEndpoint(
  asking: Asking,
  { endpoint: reference, workspace = null }: EndpointReference,
): Steps<Endpoint> {
  const endpoint = yield* findReferenced(asking.viewing, reference, workspace);
  if (!(yield* isInReach(asking, endpoint.workspaceId))) throw noEndpoint(reference);
  return endpoint;
}

/** The endpoint with this id; undefined if it does not exist or the actor may not see it. @throws forbidden if the role is not enough */
export function* findReachableEndpoint(asking: Asking, id: string): Steps<Endpoint | undefined> {
  const { viewing } = asking;
  const row = yield* first(selectVisible(viewing, yield* findSight(viewing)).where("id", "=", id));
  if (row === undefined || !(yield* isInReach(asking, row.workspace_id))) return undefined;
  return toEndpoint(row);
}

function* findReferenced(viewing: Viewing, reference: string, workspace: string | null): Steps<Endpoint> {
  const named = yield* findNamed(viewing, reference, workspace);
  const [row, ...others] =
    named.length > 0 ? named : yield* findInNamedWorkspace(viewing, reference, workspace);
  if (row === undefined) throw noEndpoint(reference);
  if (others.length > 0) throw yield* severalNamed(reference, [row, ...others]);
  return toEndpoint(row);
}

type EndpointRow = Tables["endpoint"];

/** The largest number of endpoints that the error for an ambiguous name lists. */
const MAX_NAMESAKES = 10;

function* findNamed(viewing: Viewing, reference: string, workspace: string | null): Steps<EndpointRow[]> {
  const column = isId("ep", reference) ? "id" : "name";
  let rows = selectVisible(viewing, yield* findSight(viewing)).where(column, "=", reference);
  if (workspace !== null)
    rows = rows.where("workspace_id", "=", (yield* getWorkspace(workspace, viewing)).id);
  return yield* all(rows.orderBy("id").limit(MAX_NAMESAKES));
}

/** @param sight null means everything */
function selectVisible({ reach = null }: Viewing, sight: Sight | null) {
  let rows = query.selectFrom("endpoint").selectAll();
  if (sight !== null) rows = rows.where(isSeen(sight));
  const only = reach?.endpointId ?? null;
  return only === null ? rows : rows.where("id", "=", only);
}

/** A condition on rows of `endpoint`: they belong to what somebody sees. */
export function isSeen({ whole, bound, endpoints }: Sight) {
  const inWhole = sql<boolean>`endpoint.workspace_id IN ${listed(whole)}`;
  if (bound.length === 0) return inWhole;
  return sql<boolean>`(${inWhole} OR endpoint.id IN ${listed(endpoints)} AND endpoint.workspace_id IN ${listed(bound)})`;
}

/** Finds the endpoints of a reference like `Bakery/Contact`. There are none if it has another form, or if a workspace is given. */
function* findInNamedWorkspace(
  viewing: Viewing,
  reference: string,
  workspace: string | null,
): Steps<EndpointRow[]> {
  const slash = reference.indexOf("/");
  if (slash < 1 || workspace !== null) return [];
  return yield* findNamed(viewing, reference.slice(slash + 1), reference.slice(0, slash));
}

function* severalNamed(reference: string, rows: readonly EndpointRow[]): Steps<FormsvcError> {
  const names = yield* readWorkspaceNames(rows.map((row) => row.workspace_id));
  const each = rows.map((row) => `${row.id} (workspace ${names.get(row.workspace_id) ?? row.workspace_id})`);
  return new FormsvcError(
    "ambiguous",
    `several endpoints are named ${reference}: ${each.join(", ")}; use the id, or WORKSPACE/NAME`,
    { hint: { kind: "list_endpoints" } },
  );
}

/** The number of days that submissions are kept, for each endpoint that does not keep them for ever. */
export function* listRetentions(): Steps<{ readonly number: number; readonly keepDays: number }[]> {
  const rows = query
    .selectFrom("endpoint")
    .innerJoin("endpoint_number", "endpoint_id", "id")
    .select(["number", "keep_days"])
    .where("keep_days", "is not", null);
  return (yield* all(rows)).map(({ number, keep_days }) => ({ number, keepDays: keep_days ?? 0 }));
}

/** The endpoint with this id, or undefined. Does not check who may see it. */
export function* findEndpoint(id: string): Steps<Endpoint | undefined> {
  const row = yield* first(query.selectFrom("endpoint").selectAll().where("id", "=", id));
  return row === undefined ? undefined : toEndpoint(row);
}

/** @throws not_found, with the same message for an id that does not exist and for one of somebody else's */
export function* getViewableEndpoint(viewing: Viewing, id: string): Steps<Endpoint> {
  const endpoint = yield* findEndpoint(id);
  if (endpoint === undefined || !(yield* mayViewEndpoint(viewing, endpoint.workspaceId, id)))
    throw noEndpoint(id);
  return endpoint;
}

/** Whether somebody may see what belongs to an endpoint of a workspace. */
export function* mayViewEndpoint(viewing: Viewing, workspaceId: string, endpointId: string): Steps<boolean> {
  if ((viewing.reach?.endpointId ?? endpointId) !== endpointId) return false;
  const standing = yield* findStanding(viewing, workspaceId);
  return standing !== null && seesEndpoint(standing, endpointId);
}

/** Replaces each stored setting by the given one if that is not undefined. @throws usage */
export function* updateEndpointRow(
  endpoint: Endpoint,
  change: { name?: string; state?: Endpoint["state"]; settings?: Partial<EndpointSettings> },
): Steps<Endpoint> {
  const name = change.name === undefined ? endpoint.name : checkName(change.name);
  const state = change.state ?? endpoint.state;
  const settings = checkSettings({ ...endpoint.settings, ...change.settings });
  checkTask(settings, endpoint.settings);
  yield* run(
    query
      .updateTable("endpoint")
      .set({ name, state, ...toColumns(settings), ...(yield* placeOf({ name, settings }, endpoint)) })
      .where("id", "=", endpoint.id),
  );
  yield* raiseSettingsVersion(endpoint.id);
  return { ...endpoint, name, state, settings };
}

/** The schema that posts are checked with now. */
export function* readSchema({ id, schemaVersion }: Endpoint): Steps<SchemaDefinition> {
  const definition = yield* findSchema(id, schemaVersion);
  if (definition === null) throw new Error(`endpoint ${id} has no schema ${schemaVersion}`);
  return definition;
}

/** A version of an endpoint's schema; null if there is none or it is not kept any more. */
export function* findSchema(endpointId: string, version: number): Steps<SchemaDefinition | null> {
  const row = yield* first(
    query
      .selectFrom("endpoint_schema")
      .select("definition")
      .where("endpoint_id", "=", endpointId)
      .where("version", "=", version),
  );
  return row === undefined ? null : parseDefinition(JSON.parse(row.definition));
}

/** A version of the schema of an endpoint. */
export interface SchemaVersion {
  readonly endpointId: string;
  readonly version: number;
  readonly definition: SchemaDefinition;
}

/**
 * At most `limit` versions of schemas, endpoint by endpoint, the newest of each first.
 *
 * @param endpointIds null means all endpoints. @param after only those behind this one; null begins with the first
 */
export function* listSchemaVersions(
  endpointIds: readonly string[] | null,
  after: Pick<SchemaVersion, "endpointId" | "version"> | null,
  limit: number,
): Steps<SchemaVersion[]> {
  let rows = query.selectFrom("endpoint_schema").select(["endpoint_id", "version", "definition"]);
  if (endpointIds !== null) rows = rows.where("endpoint_id", "in", listed(endpointIds));
  if (after !== null) {
    const { endpointId, version } = after;
    rows = rows
      .where("endpoint_id", ">=", endpointId)
      .where((row) => row.or([row("endpoint_id", "<>", endpointId), row("version", "<", version)]));
  }
  const found = yield* all(rows.orderBy("endpoint_id").orderBy("version", "desc").limit(limit));
  return found.map(({ endpoint_id: endpointId, version, definition }) => ({
    endpointId,
    version,
    definition: JSON.parse(definition) as SchemaDefinition,
  }));
}

/**
 * Adds a version of the schema. Earlier submissions keep the number of the version that they were checked with. The last hundred versions
 * are kept.
 *
 * @param basedOn the version that the definition was made from; null replaces any version
 * @throws conflict if the schema has another version by now
 */
export function* insertSchemaVersionRow(
  endpoint: Endpoint,
  definition: SchemaDefinition,
  now: number,
  basedOn: number | null,
): Steps<Endpoint> {
  if (basedOn !== null && basedOn !== endpoint.schemaVersion) {
    throw new FormsvcError("conflict", "the schema was changed by somebody else meanwhile");
  }
  const schemaVersion = endpoint.schemaVersion + 1;
  yield* insertSchema(endpoint.id, schemaVersion, definition, now);
  yield* run(
    query.updateTable("endpoint").set({ schema_version: schemaVersion }).where("id", "=", endpoint.id),
  );
  yield* raiseSettingsVersion(endpoint.id);
  return { ...endpoint, schemaVersion };
}

/** The number of versions of a schema that are kept; each has up to 64 KiB. */
export const MAX_SCHEMA_VERSIONS = 100;

function* insertSchema(
  endpointId: string,
  version: number,
  definition: SchemaDefinition,
  now: number,
): Steps<void> {
  yield* run(
    query
      .insertInto("endpoint_schema")
      .values({ endpoint_id: endpointId, version, definition: JSON.stringify(definition), created_at: now }),
  );
  yield* run(
    query
      .deleteFrom("endpoint_schema")
      .where("endpoint_id", "=", endpointId)
      .where("version", "<=", version - MAX_SCHEMA_VERSIONS),
  );
}

/** @throws plan_limit if the workspace has as many endpoints as its plan allows */
export function* checkEndpointLimit(workspace: Workspace, plans: Plans): Steps<void> {
  const limit = limitsOf(plans, workspace.plan).endpoints;
  if (limit === null) return;
  const counted = yield* first(
    query
      .selectFrom("endpoint")
      .select(({ fn }) => fn.countAll<number>().as("endpoints"))
      .where("workspace_id", "=", workspace.id),
  );
  if ((counted?.endpoints ?? 0) < limit) return;
  throw new FormsvcError(
    "plan_limit",
    `the plan ${workspace.plan} allows ${countOf(limit, "endpoint")}, and the workspace "${workspace.name}" has ${limit === 1 ? "it" : "them"}: delete one, or get a larger plan`,
    { hint: { kind: "upgrade_plan", workspaceId: workspace.id } },
  );
}

export function noEndpoint(reference: string): FormsvcError {
  return new FormsvcError("not_found", `there is no endpoint ${reference}`, {
    hint: { kind: "list_endpoints" },
  });
}

function toColumns(settings: EndpointSettings) {
  return {
    allowed_origins: JSON.stringify(settings.allowedOrigins),
    unknown_fields: settings.unknownFields,
    honeypots: settings.honeypots === null ? null : JSON.stringify(settings.honeypots),
    success_url: settings.successUrl,
    error_url: settings.errorUrl,
    language: settings.language,
    keep_days: settings.keepDays,
    store_address: settings.storeAddress,
    page: pageColumn(settings.page),
    challenge: challengeColumn(settings.challenge),
  };
}

function toEndpoint(row: Tables["endpoint"]): Endpoint {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    state: row.state,
    schemaVersion: row.schema_version,
    settings: {
      allowedOrigins: JSON.parse(row.allowed_origins) as string[],
      unknownFields: row.unknown_fields,
      honeypots: row.honeypots === null ? null : (JSON.parse(row.honeypots) as string[]),
      successUrl: row.success_url,
      errorUrl: row.error_url,
      language: findLanguage(row.language),
      keepDays: row.keep_days,
      storeAddress: row.store_address,
      page: readPageColumn(row.page),
      challenge: readChallengeColumn(row.challenge),
    },
    createdAt: row.created_at,
  };
}
