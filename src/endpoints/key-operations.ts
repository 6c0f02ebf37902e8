import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import type { Access } from "../operations/access.ts";
import { changed, type Context, type OwnChange, operation } from "../operations/operation.ts";
import { prepareKey, revokeKey as endNow, storeKey, succeedKey } from "../keys/issue-key.ts";
import type { KeyKind } from "../keys/key-format.ts";
import { issuedKeyJson, issuedKeyShape, keyJson, keyShape } from "../keys/key-json.ts";
import { getKey, type Key, listKeys, noKey } from "../keys/key-store.ts";
import { requireAlso } from "../workspaces/reach.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpointReference } from "./endpoint-operations.ts";
import { findReachableEndpoint, reachEndpoint } from "./endpoint-store.ts";

/*
 * Keys belong to an endpoint, so its workspace decides who may see them. That is why their operations are here, while their rows are in
 * `src/keys`.
 */

/** The access that a secret key needs, besides the operation's own. */
const furtherAccess: readonly Access[] = ["keys:secret"];

const keyReference = {
  key: z.string().describe("Id of the key, its 12 characters after the prefix, or the whole key."),
};

export const listEndpointKeys = operation({
  name: "key.list",
  summary: "List an endpoint's keys, the last 100 revoked ones too",
  kind: "read",
  access: "keys:read",
  input: z.strictObject(endpointReference),
  output: z.strictObject({ data: z.array(keyShape) }),
  *run(context, reference) {
    const keys = yield* listKeys((yield* reachEndpoint(context, reference)).id);
    return { data: keys.map((key) => keyJson(key, context.now)) };
  },
});

export const showKey = operation({
  name: "key.show",
  summary: "Show a key, without its text",
  kind: "read",
  access: "keys:read",
  input: z.strictObject(keyReference),
  output: z.strictObject({ key: keyShape }),
  *run(context, { key: reference }) {
    return { key: keyJson((yield* findReachable(context, reference)).key, context.now) };
  },
});

export const issueKey = operation({
  name: "key.issue",
  summary: "Issue another key for an endpoint, which is shown this once",
  kind: "write",
  access: "endpoints:write",
  furtherAccess,
  input: z.strictObject({ ...endpointReference, kind: z.enum(["secret", "publishable"]) }),
  output: issuedKeyShape,
  async run(context, { kind, ...reference }) {
    const { workspaceId } = await context.db.read(() => reachForKey(context, reference, kind));
    const prepared = await prepareKey(kind, workspaceId);
    return context.transact(function* () {
      // The endpoint may have been deleted while the key was hashed.
      const endpoint = yield* reachForKey(context, reference, kind);
      const issued = yield* storeKey(endpoint.id, prepared, context.now);
      return changed(issuedKeyJson(issued), changeOf(issued.key, endpoint));
    });
  },
});

export const rotateKey = operation({
  name: "key.rotate",
  summary: "Replace a key by a new one of the same kind, which is shown this once",
  kind: "write",
  access: "endpoints:write",
  furtherAccess,
  input: z.strictObject({
    ...keyReference,
    grace_ms: z.int().min(0).default(0).describe("How long the old key is still valid, in milliseconds."),
  }),
  output: issuedKeyShape,
  async run(context, { key: reference, grace_ms: graceMs }) {
    const { key, endpoint } = await context.db.read(() => reachKey(context, reference));
    const prepared = await prepareKey(key.kind, endpoint.workspaceId);
    return context.transact(function* () {
      const { key: old, endpoint: owner } = yield* reachKey(context, key.id);
      const issued = yield* succeedKey(old.id, prepared, graceMs, context.now);
      return changed(issuedKeyJson(issued), changeOf(old, owner));
    });
  },
});

export const revokeKey = operation({
  name: "key.revoke",
  summary: "Refuse a key from now on, everywhere within a second",
  kind: "write",
  access: "endpoints:write",
  furtherAccess,
  input: z.strictObject(keyReference),
  output: z.strictObject({ key: keyShape }),
  *run(context, { key: reference }) {
    const { key: found, endpoint } = yield* reachKey(context, reference);
    const key = yield* endNow(found.id, context.now);
    return changed({ key: keyJson(key, context.now) }, changeOf(key, endpoint));
  },
});

/** @throws not_found, with the same message for a key that does not exist and for somebody else's; forbidden */
function* reachKey(context: Context, reference: string): Steps<ReachableKey> {
  const found = yield* findReachable(context, reference);
  yield* requireFurther(context, found.endpoint, found.key.kind);
  return found;
}

function* findReachable(context: Context, reference: string): Steps<ReachableKey> {
  const key = yield* getKey(reference);
  const endpoint = yield* findReachableEndpoint(context, key.endpointId);
  if (endpoint === undefined) throw noKey();
  return { key, endpoint };
}

interface ReachableKey {
  readonly key: Key;
  readonly endpoint: Endpoint;
}

function* reachForKey(
  context: Context,
  reference: { readonly endpoint: string; readonly workspace: string | null },
  kind: KeyKind,
): Steps<Endpoint> {
  const endpoint = yield* reachEndpoint(context, reference);
  yield* requireFurther(context, endpoint, kind);
  return endpoint;
}

/** @throws forbidden for a secret key if the actor may only work with publishable ones */
function* requireFurther(context: Context, { workspaceId }: Endpoint, kind: KeyKind): Steps<void> {
  if (kind !== "secret") return;
  for (const access of furtherAccess) yield* requireAlso(context, access, workspaceId);
}

function changeOf({ id, kind }: Key, { id: subject, workspaceId }: Endpoint): OwnChange {
  return { subject, workspaceId, detail: `${kind} key ${id}` };
}
