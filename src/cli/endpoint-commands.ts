import type { Command } from "commander";
import { endpointJson } from "../endpoints/endpoint-json.ts";
import type { Steps } from "../database/steps.ts";
import {
  addEndpoint,
  ignoreOriginOf,
  removeEndpoint,
  setEndpoint,
  switchEndpoint,
} from "../endpoints/administer-endpoints.ts";
import {
  DEFAULT_HONEYPOTS,
  defaultEndpointSettings,
  type Endpoint,
  type EndpointSettings,
  namedOrigins,
} from "../endpoints/endpoint.ts";
import { ENDPOINT_CONTENTS } from "../app/features.ts";
import { getEndpoint, listEndpoints, readSchema } from "../endpoints/endpoint-store.ts";
import { listRefusedOrigins, type RefusedOrigin, refusedOriginJson } from "../endpoints/refused-origins.ts";
import { toIsoTime } from "../foundation/clock.ts";
import { plainText } from "../foundation/plain-text.ts";
import type { SchemaDefinition } from "../schemas/definition.ts";
import { getWorkspace, listWorkspaces } from "../workspaces/workspace-store.ts";
import type { Plans } from "../workspaces/workspace.ts";
import { confirm } from "./arguments.ts";
import { addNoun, command, type CommandContext, refuse } from "./command.ts";
import type { OptionValues } from "./option-values.ts";
import { letOthersWrite, withDatabase, withNewDatabase } from "./open.ts";
import { describePlan } from "./workspace-commands.ts";
import { readDefinition } from "./schema-commands.ts";

export function register(program: Command): void {
  addNoun(program, "endpoint", "Forms: one endpoint each", [
    create,
    list,
    show,
    rename,
    set,
    pause,
    resume,
    remove,
  ]);
}

const originOption = {
  flags: "--allow-origin <origin>",
  summary:
    "a page's origin that may post with the publishable key, like https://example.com or https://*.example.com; repeatable",
  repeatable: true,
} as const;

/** Of the verbs that name one endpoint. */
const workspaceOption = {
  flags: "--workspace <workspace>",
  summary: "workspace of the endpoint (needed if several have an endpoint of that name)",
} as const;

const create = command({
  usage: "create",
  summary: "Make an endpoint and print its two keys, once",
  options: [
    { flags: "--name <name>", summary: "its name", required: true },
    { flags: "--schema <file>", summary: "the fields as JSON; - reads standard input", required: true },
    { flags: "--workspace <workspace>", summary: "workspace of the endpoint (needed if there are several)" },
    originOption,
    { flags: "--env", summary: "print FORMSVC_… lines for eval" },
  ],
  examples: [
    "formsvc endpoint create --name Contact --schema contact.json",
    'eval "$(formsvc endpoint create --name Contact --schema contact.json --env)"',
    `echo '{"email":{"type":"string","required":true,"format":"email"}}' | formsvc endpoint create --name News --schema -`,
  ],
  action: (context, options) => {
    const definition = readDefinition(options.schema);
    return withNewDatabase(context, async (db, config) => {
      const settings = { ...defaultEndpointSettings, allowedOrigins: options.allowOrigin ?? [] };
      const made = { name: options.name, definition, settings };
      const created = await addEndpoint(db, null, made, {
        workspace: options.workspace,
        plans: config.plans,
        newWorkspacePlan: config.newWorkspacePlan,
        now: context.clock.now(),
      });
      const keys = { secret: created.secret.text, publishable: created.publishable.text };
      if (created.hasNamesake)
        context.output.note(
          `another endpoint is named ${created.endpoint.name} too; commands take the id then`,
        );
      printCreated(context, created.endpoint, { schema: definition, keys, asVariables: options.env });
      const plan = await db.read(() => describeFirstPlan(created.endpoint, config.plans));
      if (plan !== null) context.output.note(`The plan is ${plan}`);
    });
  },
});

/** Null if the endpoint is not the first of its workspace. */
function* describeFirstPlan({ workspaceId }: Endpoint, plans: Plans): Steps<string | null> {
  if ((yield* listEndpoints(workspaceId)).length > 1) return null;
  return yield* describePlan(yield* getWorkspace(workspaceId), plans);
}

const list = command({
  usage: "list",
  summary: "List the endpoints",
  options: [{ flags: "--workspace <workspace>", summary: "only this workspace's" }],
  action: (context, options) =>
    withDatabase(context, async (db) => {
      const reference = options.workspace;
      const endpoints = await db.read(function* () {
        return yield* listEndpoints(reference === null ? null : (yield* getWorkspace(reference)).id);
      });
      if (context.output.isJson) return context.output.json({ data: endpoints.map(endpointJson) });
      const workspaces = new Map((await db.read(() => listWorkspaces())).map(({ id, name }) => [id, name]));
      const rows = endpoints.map(({ id, name, workspaceId, state, createdAt }) => [
        id,
        name,
        workspaces.get(workspaceId) ?? workspaceId,
        state,
        toIsoTime(createdAt),
      ]);
      const empty = "no endpoints yet; make one with: formsvc endpoint create --name NAME --schema FILE";
      return context.output.table(["ID", "NAME", "WORKSPACE", "STATE", "CREATED"], rows, empty);
    }),
});

const show = command({
  usage: "show <endpoint>",
  summary: "Show an endpoint's settings and schema",
  options: [workspaceOption],
  action: (context, options, [reference]) =>
    withDatabase(context, async (db) => {
      const endpoint = await db.read(() => getEndpoint(reference, options.workspace));
      const definition = await db.read(() => readSchema(endpoint));
      const refused = await db.read(() => listRefusedOrigins(endpoint));
      if (context.output.isJson) {
        const more = { refused_origins: refused.map(refusedOriginJson), schema: definition };
        return context.output.json({ endpoint: { ...endpointJson(endpoint), ...more } });
      }
      const { settings } = endpoint;
      const rows = [
        ["id", endpoint.id],
        ["name", endpoint.name],
        ["workspace", endpoint.workspaceId],
        ["state", endpoint.state],
        ["allowed origins", settings.allowedOrigins.join(", ") || "any"],
        ...refused.map((each) => ["refused origin", describeRefused(each)]),
        ["unknown fields", settings.unknownFields],
        ["honeypots", (settings.honeypots ?? DEFAULT_HONEYPOTS).join(", ")],
        ["success page", settings.successUrl ?? "built in"],
        ["error page", settings.errorUrl ?? "built in"],
        ["submissions kept", settings.keepDays === null ? "forever" : `${settings.keepDays} days`],
        ["addresses stored", settings.storeAddress],
        ["schema version", String(endpoint.schemaVersion)],
        ["fields", Object.keys(definition).join(", ")],
        ["created", toIsoTime(endpoint.createdAt)],
      ];
      return context.output.table(["ENDPOINT", ""], rows, "");
    }),
});

function describeRefused({ origin, posts, lastAt, ignored }: RefusedOrigin): string {
  const count = posts === 1 ? "1 post" : `${posts} posts`;
  return `${plainText(origin)}: ${count}, the last at ${toIsoTime(lastAt)}${ignored ? ", ignored" : ""}`;
}

const rename = command({
  usage: "rename <endpoint> <name>",
  summary: "Give an endpoint another name",
  options: [workspaceOption],
  action: (context, options, [reference, name]) =>
    change(context, [reference, options.workspace], (id, now) => setEndpoint(null, id, { name }, now)),
});

const settingOptions = [
  { ...originOption, summary: `${originOption.summary}; '*' alone allows every origin` },
  {
    flags: "--unknown-fields <what>",
    summary:
      "members that the schema does not declare: set them aside, drop them, keep them among the data, or reject the post",
    choices: ["set-aside", "drop", "keep", "reject"],
  },
  {
    flags: "--honeypot <name>",
    summary: "a field that must stay empty; repeatable; 'default' alone restores the built-in list",
    repeatable: true,
  },
  {
    flags: "--success-url <url>",
    summary: "page after a plain form's success; '' restores the built-in one",
  },
  {
    flags: "--keep-days <days>",
    summary: "delete submissions after this number of days; 'forever' keeps them",
    parse: parseKeepDays,
  },
  {
    flags: "--store-address <how>",
    summary: "how much of a submitter's address is stored from now on: all, its network only, or nothing",
    choices: ["full", "short", "none"],
  },
  {
    flags: "--ignore-origin <origin>",
    summary:
      "an origin whose posts were refused and that is none of yours: they are not held any more; repeatable",
    repeatable: true,
  },
  {
    flags: "--heed-origin <origin>",
    summary: "takes --ignore-origin back; repeatable",
    repeatable: true,
  },
  {
    flags: "--error-url <url>",
    summary:
      "page after a plain form's error, called with ?error=held|invalid|refused|later; '' restores the built-in one",
  },
] as const;

const set = command({
  usage: "set <endpoint>",
  summary: "Change an endpoint's settings; each option replaces the whole setting",
  options: [workspaceOption, ...settingOptions],
  examples: [
    "formsvc endpoint set Contact --allow-origin https://example.com --allow-origin https://*.example.com",
    "formsvc endpoint set Contact --unknown-fields keep --honeypot website",
  ],
  action: (context, options, [reference]) => {
    const settings = readSettings(options);
    const { ignoreOrigin, heedOrigin } = options;
    const isMarked = ignoreOrigin !== null || heedOrigin !== null;
    if (Object.keys(settings).length === 0 && !isMarked)
      return refuse("give something to change, like --keep-days 90");
    return change(context, [reference, options.workspace], function* (id, now) {
      const endpoint = yield* setEndpoint(null, id, { settings }, now);
      for (const origin of ignoreOrigin ?? [])
        yield* ignoreOriginOf(null, endpoint, { origin, ignored: true }, now);
      for (const origin of heedOrigin ?? [])
        yield* ignoreOriginOf(null, endpoint, { origin, ignored: false }, now);
      return endpoint;
    });
  },
});

const pause = command({
  usage: "pause <endpoint>",
  summary: "Refuse every post with 403 until resumed",
  options: [workspaceOption],
  action: (context, options, [reference]) =>
    change(context, [reference, options.workspace], (id, now) => switchEndpoint(null, id, "paused", now)),
});

const resume = command({
  usage: "resume <endpoint>",
  summary: "Take posts again",
  options: [workspaceOption],
  action: (context, options, [reference]) =>
    change(context, [reference, options.workspace], (id, now) => switchEndpoint(null, id, "active", now)),
});

const remove = command({
  usage: "delete <endpoint>",
  summary:
    "Delete an endpoint with its keys, schemas and all its submissions; if it is interrupted, run it again",
  options: [workspaceOption, { flags: "--yes", summary: "do it without being asked" }],
  action: (context, options, [reference]) =>
    withDatabase(context, async (db) => {
      const endpoint = await db.read(() => getEndpoint(reference, options.workspace));
      await confirm(`Delete ${endpoint.id} (${endpoint.name}) and all its submissions?`, options.yes);
      const asked = { id: endpoint.id, actor: null, now: context.clock.now() };
      return printChanged(context, await removeEndpoint(db, asked, ENDPOINT_CONTENTS, letOthersWrite));
    }),
});

function change(
  context: CommandContext,
  [reference, workspace]: readonly [endpoint: string, workspace: string | null],
  verb: (id: string, now: number) => Steps<Endpoint>,
): Promise<void> {
  return withDatabase(context, async (db) => {
    const endpoint = await db.transaction(function* () {
      const { id } = yield* getEndpoint(reference, workspace);
      return yield* verb(id, context.clock.now());
    });
    printChanged(context, endpoint);
  });
}

function parseKeepDays(value: string): number | "forever" {
  if (value === "forever") return value;
  return /^\d{1,6}$/.test(value) ? Number(value) : refuse("expected a number of days, or forever");
}

function readSettings({
  allowOrigin,
  unknownFields,
  honeypot,
  successUrl,
  errorUrl,
  keepDays,
  storeAddress,
}: OptionValues<typeof settingOptions>): Partial<EndpointSettings> {
  return {
    ...(allowOrigin !== null && { allowedOrigins: namedOrigins(allowOrigin) }),
    ...(unknownFields !== null && { unknownFields }),
    ...(honeypot !== null && {
      honeypots: honeypot.length === 1 && honeypot[0] === "default" ? null : honeypot,
    }),
    ...(successUrl !== null && { successUrl: successUrl || null }),
    ...(errorUrl !== null && { errorUrl: errorUrl || null }),
    ...(keepDays !== null && { keepDays: keepDays === "forever" ? null : keepDays }),
    ...(storeAddress !== null && { storeAddress }),
  };
}

interface PrintedParts {
  readonly schema: SchemaDefinition;
  readonly keys: { readonly secret: string; readonly publishable: string };
  /** Whether to print lines for `eval`. */
  readonly asVariables: boolean;
}

function printCreated(
  { output }: CommandContext,
  endpoint: Endpoint,
  { schema, keys, asVariables }: PrintedParts,
): void {
  output.mustBeTaken(
    `the endpoint ${endpoint.id} is there and its keys are unknown: issue others, or delete it`,
  );
  if (output.isJson) {
    const { id, name, workspaceId, createdAt } = endpoint;
    const shown = { id, name, workspace_id: workspaceId, schema, created_at: toIsoTime(createdAt) };
    return output.json({ endpoint: shown, keys });
  }
  if (asVariables) {
    output.line(`FORMSVC_ENDPOINT_ID=${endpoint.id}`);
    output.line(`FORMSVC_SECRET_KEY=${keys.secret}`);
    output.line(`FORMSVC_PUBLISHABLE_KEY=${keys.publishable}`);
  } else {
    output.line(`endpoint     ${endpoint.id}`);
    output.line(`secret       ${keys.secret}`);
    output.line(`publishable  ${keys.publishable}`);
  }
  return output.note(
    "The keys are shown this once and cannot be recovered. The secret key belongs on servers only.",
  );
}

function printChanged({ output }: CommandContext, endpoint: Endpoint): void {
  if (output.isJson) return output.json({ endpoint: endpointJson(endpoint) });
  output.line(endpoint.id);
  return undefined;
}
