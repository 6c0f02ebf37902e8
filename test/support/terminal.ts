import type { z } from "zod";
import { defaultConfig } from "../../src/config/config.ts";
import type { Database } from "../../src/database/database.ts";
import type { Steps } from "../../src/database/steps.ts";
import { ENDPOINT_CONTENTS } from "../../src/app/features.ts";
import { deleteEndpoint } from "../../src/endpoints/delete-endpoint.ts";
import type { Endpoint } from "../../src/endpoints/endpoint.ts";
import {
  getEndpoint,
  insertEndpointRow,
  insertSchemaVersionRow,
  type NewEndpoint,
  updateEndpointRow,
} from "../../src/endpoints/endpoint-store.ts";
import { rotateKey } from "../../src/endpoints/key-operations.ts";
import { type IssuedKey, storeKey } from "../../src/keys/issue-key.ts";
import { getKey } from "../../src/keys/key-store.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import type { Operation, StreamOperation } from "../../src/operations/operation.ts";
import { type Door, type Guard, perform, performStream } from "../../src/operations/perform.ts";
import { importFile } from "../../src/cli/transfer/import-file.ts";
import { importSubmissions } from "../../src/submissions/import/import-submissions.ts";
import { releaseHeld } from "../../src/submissions/held/held-operations.ts";
import type { Submission } from "../../src/submissions/stored/submission.ts";
import { getSubmission } from "../../src/submissions/stored/submission-store.ts";
import { chooseWorkspace } from "../../src/workspaces/workspace-store.ts";
import type { Plans } from "../../src/workspaces/workspace.ts";
import { NOON } from "./fake-clock.ts";
import { prepareQuickKey } from "./quick-key.ts";

/** What a test changes of the default: a terminal at noon with the default configuration. */
export type DoorOverrides = Partial<Door<unknown>> & { readonly plans?: Plans };

/** Performs an operation as the command line does, or as the given actor. */
export function performOn<Parts, Input extends z.ZodObject, Output extends z.ZodType>(
  db: Database,
  operation: Operation<Parts, Input, Output>,
  input: z.input<Input>,
  { guard, ...overrides }: DoorOverrides & { readonly guard?: Guard } = {},
): Promise<z.output<Output>> {
  return perform(doorOn<Parts>(db, overrides), operation, input, guard);
}

/** Performs an operation whose output comes in parts, and returns all parts. */
export async function partsOn<Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  db: Database,
  operation: StreamOperation<Parts, Input, Part>,
  input: z.input<Input>,
  overrides: DoorOverrides = {},
): Promise<z.output<Part>[]> {
  const parts: z.output<Part>[] = [];
  for await (const part of await streamOn(db, operation, input, overrides)) parts.push(part);
  return parts;
}

/** Begins an operation whose output comes in parts; the rest is done as the parts are taken. */
export async function streamOn<Parts, Input extends z.ZodObject, Part extends z.ZodType>(
  db: Database,
  operation: StreamOperation<Parts, Input, Part>,
  input: z.input<Input>,
  overrides: DoorOverrides = {},
): Promise<AsyncIterable<z.output<Part>>> {
  return performStream(doorOn<Parts>(db, overrides), operation, input);
}

function doorOn<Parts>(db: Database, { plans, ...overrides }: DoorOverrides): Door<Parts> {
  return {
    db,
    config:
      plans === undefined ? defaultConfig : { ...defaultConfig, plans: plans as typeof defaultConfig.plans },
    now: NOON,
    actor: { kind: "terminal", user: "ada" },
    onChange: () => undefined,
    ...overrides,
    parts: overrides.parts as Parts,
  };
}

interface Place {
  readonly workspace: string | null;
  readonly plans: Plans;
  readonly newWorkspacePlan?: string;
  readonly now: number;
}

export interface MadeEndpoint {
  readonly endpoint: Endpoint;
  readonly secret: IssuedKey;
  readonly publishable: IssuedKey;
}

/** Makes an endpoint with keys whose hashes cost little, without an audit event. */
export async function makeEndpoint(
  db: Database,
  made: NewEndpoint,
  { workspace, plans, newWorkspacePlan, now }: Place,
): Promise<MadeEndpoint> {
  const [secret, publishable] = await Promise.all([
    prepareQuickKey("secret"),
    prepareQuickKey("publishable"),
  ]);
  return db.transaction(function* () {
    const owner = yield* chooseWorkspace(workspace, now, newWorkspacePlan);
    const endpoint = yield* insertEndpointRow(owner, made, plans, now);
    return {
      endpoint,
      secret: yield* storeKey(endpoint.id, secret, now),
      publishable: yield* storeKey(endpoint.id, publishable, now),
    };
  });
}

/** Deletes an endpoint with everything that belongs to it. @param pause is called between two transactions */
export function removeEndpoint(
  db: Database,
  endpoint: string,
  pause: () => Promise<void> = () => Promise.resolve(),
): Promise<unknown> {
  const parts = { endpointContents: ENDPOINT_CONTENTS };
  return performOn(db, deleteEndpoint, { endpoint }, { parts, onProgress: pause });
}

/** Changes an endpoint inside a transaction, without an audit event. */
export function* changeEndpoint(
  reference: string,
  change: Parameters<typeof updateEndpointRow>[1],
): Steps<Endpoint> {
  return yield* updateEndpointRow(yield* getEndpoint(reference), change);
}

/** Gives an endpoint another schema inside a transaction, without an audit event. */
export function* changeSchema(reference: string, definition: SchemaDefinition, now: number): Steps<Endpoint> {
  return yield* insertSchemaVersionRow(yield* getEndpoint(reference), definition, now, null);
}

/** Rotates a key as the command line does. */
export async function replaceKey(
  db: Database,
  { key: reference, graceMs }: { readonly key: string; readonly graceMs: number },
  now: number,
): Promise<IssuedKey> {
  const issued = await performOn(db, rotateKey, { key: reference, grace_ms: graceMs }, { now });
  const { id, kind } = issued.key;
  return { key: await db.read(() => getKey(id)), text: issued[kind] ?? "" };
}

/** Imports a file as the command line does. @param endpoint the endpoint that the submissions go to; null leaves each with its own */
export async function importFrom(db: Database, file: string, endpoint: string | null = null) {
  const parts = { source: importFile(file) };
  return (await performOn(db, importSubmissions, { endpoint }, { parts, now: Date.now() })).imported;
}

/** Releases a held post as the command line does. */
export async function releasePost(
  { db, plans }: { readonly db: Database; readonly plans: Plans },
  held: string,
  now: number,
): Promise<Submission> {
  const { submission } = await performOn(db, releaseHeld, { held }, { plans, now });
  return db.read(() => getSubmission(submission));
}
