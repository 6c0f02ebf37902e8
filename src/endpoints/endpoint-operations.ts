import { z } from "zod";
import type { Steps } from "../database/steps.ts";
import { jsonObject } from "../operations/json-object.ts";
import { volatile } from "../operations/marks.ts";
import { changed, type Context, type Outcome, type OwnChange, operation } from "../operations/operation.ts";
import { checkAskable } from "../schemas/form-inputs.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { getWorkspace } from "../workspaces/workspace-store.ts";
import { checkOrigin } from "./allowed-origin.ts";
import { writeChallengeSecret } from "./challenge.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpointJson, endpointShape, settingsInput, settingsOf } from "./endpoint-json.ts";
import { listEndpoints, reachEndpoint, readSchema, updateEndpointRow } from "./endpoint-store.ts";
import { listRefusedOrigins, markOriginRow, refusedOriginJson } from "./refused-origins.ts";

/** How an operation names an endpoint. */
export const endpointReference = {
  endpoint: z.string().describe("Id of the endpoint, its name if that is unique, or WORKSPACE/NAME."),
  workspace: z
    .string()
    .nullable()
    .default(null)
    .describe("Id or name of the workspace of the endpoint; null looks in all workspaces."),
};

const shown = z.strictObject({ endpoint: endpointShape });

export const listAllEndpoints = operation({
  name: "endpoint.list",
  summary: "List the endpoints",
  kind: "read",
  access: "endpoints:read",
  input: z.strictObject({
    workspace: z
      .string()
      .nullable()
      .default(null)
      .describe("Only endpoints of this workspace: its id or name."),
    name: z.string().nullable().default(null).describe("Only endpoints with exactly this name."),
  }),
  output: z.strictObject({ data: z.array(endpointShape) }),
  *run({ viewing }, { workspace, name }) {
    const workspaceId = workspace === null ? null : (yield* getWorkspace(workspace, viewing)).id;
    const endpoints = yield* listEndpoints(workspaceId, viewing);
    return { data: endpoints.filter((each) => name === null || each.name === name).map(endpointJson) };
  },
});

export const showEndpoint = operation({
  name: "endpoint.show",
  summary: "Show an endpoint's settings and schema",
  kind: "read",
  access: "endpoints:read",
  input: z.strictObject(endpointReference),
  output: z.strictObject({
    endpoint: endpointShape.extend({
      refused_origins: volatile(
        z.array(
          z.strictObject({
            origin: z.string(),
            posts: z.number(),
            last_at: z.string(),
            ignored: z.boolean(),
          }),
        ),
      ),
      schema: jsonObject,
    }),
  }),
  *run(context, reference) {
    const endpoint = yield* reachEndpoint(context, reference);
    const schema = yield* readSchema(endpoint);
    const refused = (yield* listRefusedOrigins(endpoint)).map(refusedOriginJson);
    return { endpoint: { ...endpointJson(endpoint), refused_origins: refused, schema } };
  },
});

export const setEndpoint = operation({
  name: "endpoint.set",
  summary: "Change an endpoint's name or settings; what is not named stays",
  kind: "write",
  access: "endpoints:write",
  input: z.strictObject({
    ...endpointReference,
    name: z.string().optional(),
    ...settingsInput.shape,
    ignore_origins: z
      .array(z.string())
      .readonly()
      .default([])
      .describe(
        "Origins whose posts were refused and that do not belong to the owner: their posts are not held any more.",
      ),
    heed_origins: z
      .array(z.string())
      .readonly()
      .default([])
      .describe("Origins that are ignored no more: their refused posts are held again."),
  }),
  output: shown,
  *run(context, { name, ignore_origins, heed_origins, ...input }) {
    const before = yield* reachEndpoint(context, input);
    const settings = settingsOf(input, before.settings);
    if (settings.page?.isOn === true && !before.settings.page.isOn) checkAskable(yield* readSchema(before));
    const endpoint = yield* updateEndpointRow(before, name === undefined ? { settings } : { name, settings });
    const changes = [changeOf(endpoint)];
    for (const origin of ignore_origins) changes.push(yield* markOrigin(endpoint, origin, "ignore"));
    for (const origin of heed_origins) changes.push(yield* markOrigin(endpoint, origin, "heed"));
    return changed({ endpoint: endpointJson(endpoint) }, ...changes);
  },
});

/** @throws not_found if no post of the origin was refused */
function* markOrigin(endpoint: Endpoint, origin: string, mark: "ignore" | "heed"): Steps<OwnChange> {
  yield* markOriginRow(endpoint.id, origin, mark === "ignore");
  return { ...changeOf(endpoint), action: `endpoint.${mark}-origin`, detail: origin };
}

const originChange = {
  kind: "write",
  access: "endpoints:write",
  input: z.strictObject({ ...endpointReference, origin: z.string() }),
  output: shown,
} as const;

export const ignoreOrigin = operation({
  ...originChange,
  name: "endpoint.ignore-origin",
  summary: "Say that a refused origin is none of the owner's, so that its posts are not held any more",
  *run(context, { origin, ...reference }) {
    const endpoint = yield* reachEndpoint(context, reference);
    return changed({ endpoint: endpointJson(endpoint) }, yield* markOrigin(endpoint, origin, "ignore"));
  },
});

export const allowOrigin = operation({
  ...originChange,
  name: "endpoint.allow-origin",
  summary: "Add an origin to those that may post to an endpoint",
  *run(context, { origin, ...reference }) {
    const endpoint = yield* reachEndpoint(context, reference);
    const { allowedOrigins } = endpoint.settings;
    const allowed = checkOrigin(origin);
    // An empty list allows every site: adding one site would refuse the others.
    if (allowedOrigins.length === 0 || allowedOrigins.includes(allowed))
      return changed({ endpoint: endpointJson(endpoint) });
    const settings = { allowedOrigins: [...allowedOrigins, allowed] };
    const set = yield* updateEndpointRow(endpoint, { settings });
    return changed({ endpoint: endpointJson(set) }, { ...changeOf(set), action: "endpoint.set" });
  },
});

const stateChange = {
  kind: "write",
  access: "endpoints:write",
  input: z.strictObject(endpointReference),
  output: shown,
} as const;

export const pauseEndpoint = operation({
  ...stateChange,
  name: "endpoint.pause",
  summary: "Refuse every post to an endpoint with 403, until it is resumed",
  run: (context, reference) => setState(context, reference, "paused"),
});

export const resumeEndpoint = operation({
  ...stateChange,
  name: "endpoint.resume",
  summary: "Let a paused endpoint take posts again",
  run: (context, reference) => setState(context, reference, "active"),
});

function* setState(
  context: Context,
  reference: z.output<typeof stateChange.input>,
  state: Endpoint["state"],
): Steps<Outcome<z.output<typeof shown>>> {
  const endpoint = yield* updateEndpointRow(yield* reachEndpoint(context, reference), { state });
  return changed({ endpoint: endpointJson(endpoint) }, changeOf(endpoint));
}

interface SecretParts {
  readonly keyring: Keyring;
}

export const setChallengeSecret = operation({
  name: "endpoint.set-challenge-secret",
  summary: "Give the secret by which Turnstile or hCaptcha checks an endpoint's visitors; null takes it away",
  kind: "write",
  access: "endpoints:write",
  input: z.strictObject({
    ...endpointReference,
    secret: z
      .string()
      .nullable()
      .describe("The secret as Turnstile or hCaptcha shows it; it is never shown here. Null removes it."),
  }),
  output: shown,
  *run(context: Context<SecretParts>, { secret, ...reference }) {
    const endpoint = yield* reachEndpoint(context, reference);
    yield* writeChallengeSecret(context.parts.keyring, endpoint.id, secret);
    return changed({ endpoint: endpointJson(endpoint) }, changeOf(endpoint));
  },
});

/** The record of a change to an endpoint. */
export function changeOf({ id, workspaceId, name }: Endpoint): OwnChange {
  return { subject: id, workspaceId, detail: name };
}
