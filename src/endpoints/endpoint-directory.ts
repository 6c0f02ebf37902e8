import type { Database } from "../database/database.ts";
import type { ChangedSettings } from "../database/settings-version.ts";
import type { Steps } from "../database/steps.ts";
import { compileSchema, type CompiledSchema } from "../schemas/compile-schema.ts";
import type { Brand } from "../foundation/brand.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { KnownValues } from "../foundation/known-values.ts";
import type { SpamSettings } from "../spam/spam-settings.ts";
import { getWorkspace } from "../workspaces/workspace-store.ts";
import { findLimits, type PlanLimits, type Plans } from "../workspaces/workspace.ts";
import { DEFAULT_HONEYPOTS, type Endpoint } from "./endpoint.ts";
import { findEndpoint, readSchema } from "./endpoint-store.ts";
import { readIgnoredOrigins } from "./refused-origins.ts";
import { settingsFor } from "./spam-choices-store.ts";

/** An endpoint with everything that is needed to accept a post. */
export interface ReadyEndpoint {
  readonly endpoint: Endpoint;
  readonly schema: CompiledSchema;
  /** Names of the fields that must stay empty: the endpoint's list without fields that its schema declares. */
  readonly honeypots: readonly string[];
  readonly plan: string;
  readonly limits: PlanLimits;
  /** The settings for the score of its posts. */
  readonly spam: SpamSettings;
  /** Origins that the owner said are not theirs. */
  readonly ignoredOrigins: ReadonlySet<string>;
  /** The brand of its workspace, for the pages that visitors see. */
  readonly brand: Brand;
}

/** What the configuration says about endpoints. */
export interface EndpointRules {
  readonly plans: Plans;
  /** The spam settings of an owner who chose nothing. */
  readonly defaults: SpamSettings;
}

/** The largest number of endpoints in memory. A further one drops the oldest. */
const MAX_READY_ENDPOINTS = 5000;

/** Seconds in which somebody may restart a server that does not know a plan. */
const RETRY_AFTER_SECONDS = 60;

export interface EndpointDirectory {
  /** The endpoint if it is in memory, else undefined. */
  recall(endpointId: string): ReadyEndpoint | undefined;
  /**
   * The endpoint from memory, or else from the database; undefined if it was deleted.
   *
   * @throws unavailable if this process does not know the endpoint's plan
   */
  find(endpointId: string): Promise<ReadyEndpoint | undefined>;
  /** Reads the endpoint from the database in any case. @throws unavailable as {@link EndpointDirectory.find} does */
  reread(endpointId: string): Promise<ReadyEndpoint | undefined>;
  /** Drops the endpoints from memory that these changes concern. */
  forget(changed: ChangedSettings): void;
}

export function createEndpointDirectory(db: Database, rules: EndpointRules): EndpointDirectory {
  const known = new KnownValues<ReadyEndpoint>(
    (endpointId) => db.read(() => readReady(endpointId, rules)),
    MAX_READY_ENDPOINTS,
  );
  return {
    recall: (id) => known.recall(id),
    find: (id) => known.find(id),
    reread: (id) => known.reread(id),
    forget(changed) {
      if (changed === null) known.forget();
      else known.forget(({ endpoint: { id, workspaceId } }) => changed.has(id) || changed.has(workspaceId));
    },
  };
}

/** Reads an endpoint and makes it ready. @throws unavailable if its plan is not configured */
export function* readReady(
  endpointId: string,
  { plans, defaults }: EndpointRules,
): Steps<ReadyEndpoint | undefined> {
  const endpoint = yield* findEndpoint(endpointId);
  if (endpoint === undefined) return undefined;
  const { workspaceId } = endpoint;
  const { plan, brand } = yield* getWorkspace(workspaceId);
  const limits = findLimits(plans, plan);
  if (limits === undefined) throw unknownPlan(workspaceId, plan);
  const schema = compileSchema(yield* readSchema(endpoint), endpoint.settings.unknownFields);
  const names = endpoint.settings.honeypots ?? DEFAULT_HONEYPOTS;
  const honeypots = names.filter((name) => !Object.hasOwn(schema.definition, name));
  const scope = { kind: "endpoint", workspaceId, endpointId } as const;
  const spam = yield* settingsFor(scope, defaults, limits.customSpam);
  const ignoredOrigins = yield* readIgnoredOrigins(endpointId);
  return { endpoint, schema, honeypots, plan, limits, spam, ignoredOrigins, brand };
}

/**
 * The error for a plan that this server does not know, because it reads its configuration when it starts. The client tries again later, and
 * the log says what to do.
 */
function unknownPlan(workspaceId: string, plan: string): FormsvcError {
  const reason = `${workspaceId} is on the plan ${plan}, which was not configured when this server started; restart it`;
  return new FormsvcError("unavailable", undefined, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: new FormsvcError("config_invalid", reason),
  });
}
