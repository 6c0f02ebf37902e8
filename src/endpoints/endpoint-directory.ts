import type { SqliteDatabase } from "../database/sqlite/sqlite-database.ts";
import type { Steps } from "../database/steps.ts";
import { compileSchema, type CompiledSchema } from "../schemas/compile-schema.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { getWorkspace } from "../workspaces/workspace-store.ts";
import { findLimits, type PlanLimits, type Plans } from "../workspaces/workspace.ts";
import { DEFAULT_HONEYPOTS, type Endpoint } from "./endpoint.ts";
import { findEndpoint, readSchema } from "./endpoint-store.ts";

/** An endpoint with everything that a post to it needs, ready to use. */
export interface ReadyEndpoint {
  readonly endpoint: Endpoint;
  readonly schema: CompiledSchema;
  /** Names of the fields that must stay empty: the endpoint's list without what its schema declares. */
  readonly honeypots: readonly string[];
  readonly plan: string;
  readonly limits: PlanLimits;
}

/** Endpoints kept ready in memory; the oldest is dropped beyond this. */
const MAX_READY_ENDPOINTS = 5000;

/** Time in which somebody may restart a server that does not know a plan. */
const RETRY_AFTER_SECONDS = 60;

export interface EndpointDirectory {
  /** The endpoint, or undefined when it was deleted. @throws unavailable if this process does not know its plan. */
  get(endpointId: string): ReadyEndpoint | undefined;
  /** Reads everything anew from now on. */
  forget(): void;
}

export function createEndpointDirectory(db: SqliteDatabase, plans: Plans): EndpointDirectory {
  const ready = new Map<string, ReadyEndpoint>();
  return {
    get(endpointId) {
      const known = ready.get(endpointId);
      if (known !== undefined) return known;
      const made = db.now(() => readReady(endpointId, plans));
      if (made === undefined) return undefined;
      const oldest = ready.size >= MAX_READY_ENDPOINTS ? ready.keys().next().value : undefined;
      if (oldest !== undefined) ready.delete(oldest);
      ready.set(endpointId, made);
      return made;
    },
    forget: () => ready.clear(),
  };
}

/** As the directory has it. @throws unavailable if the plan is not configured. */
export function* readReady(endpointId: string, plans: Plans): Steps<ReadyEndpoint | undefined> {
  const endpoint = yield* findEndpoint(endpointId);
  if (endpoint === undefined) return undefined;
  const { id, plan } = yield* getWorkspace(endpoint.workspaceId);
  const limits = findLimits(plans, plan);
  if (limits === undefined) throw unknownPlan(id, plan);
  const schema = compileSchema(yield* readSchema(endpoint), endpoint.settings.unknownFields);
  const names = endpoint.settings.honeypots ?? DEFAULT_HONEYPOTS;
  const honeypots = names.filter((name) => !Object.hasOwn(schema.definition, name));
  return { endpoint, schema, honeypots, plan, limits };
}

/** A server reads its configuration when it starts; the client tries again later, and the log says what to do. */
function unknownPlan(workspaceId: string, plan: string): FormsvcError {
  const reason = `${workspaceId} is on the plan ${plan}, which was not configured when this server started; restart it`;
  return new FormsvcError("unavailable", undefined, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: new FormsvcError("config_invalid", reason),
  });
}
