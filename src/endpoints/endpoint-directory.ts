import type { Database } from "../database/database.ts";
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

/** An endpoint with everything that a post to it needs, ready to use. */
export interface ReadyEndpoint {
  readonly endpoint: Endpoint;
  readonly schema: CompiledSchema;
  /** Names of the fields that must stay empty: the endpoint's list without what its schema declares. */
  readonly honeypots: readonly string[];
  readonly plan: string;
  readonly limits: PlanLimits;
  /** For the score of its posts. */
  readonly spam: SpamSettings;
  /** Origins that are none of the owner's. */
  readonly ignoredOrigins: ReadonlySet<string>;
  /** Of its workspace, for the pages that visitors see. */
  readonly brand: Brand;
}

/** What the configuration says about endpoints. */
export interface EndpointRules {
  readonly plans: Plans;
  /** The spam settings of an owner who chose nothing. */
  readonly defaults: SpamSettings;
}

/** Endpoints kept ready in memory; the oldest is dropped beyond this. */
const MAX_READY_ENDPOINTS = 5000;

/** Time in which somebody may restart a server that does not know a plan. */
const RETRY_AFTER_SECONDS = 60;

export interface EndpointDirectory {
  /** The endpoint if it is in memory. */
  recall(endpointId: string): ReadyEndpoint | undefined;
  /** The same, and reads it if it is not there; undefined when it was deleted. @throws unavailable if this process does not know its plan. */
  find(endpointId: string): Promise<ReadyEndpoint | undefined>;
  /** The endpoint as it is now. @throws unavailable as {@link EndpointDirectory.find} does */
  reread(endpointId: string): Promise<ReadyEndpoint | undefined>;
  /** Reads everything anew from now on. */
  forget(): void;
}

export function createEndpointDirectory(db: Database, rules: EndpointRules): EndpointDirectory {
  return new KnownValues((endpointId) => db.read(() => readReady(endpointId, rules)), MAX_READY_ENDPOINTS);
}

/** As the directory has it. @throws unavailable if the plan is not configured. */
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

/** A server reads its configuration when it starts; the client tries again later, and the log says what to do. */
function unknownPlan(workspaceId: string, plan: string): FormsvcError {
  const reason = `${workspaceId} is on the plan ${plan}, which was not configured when this server started; restart it`;
  return new FormsvcError("unavailable", undefined, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: new FormsvcError("config_invalid", reason),
  });
}
