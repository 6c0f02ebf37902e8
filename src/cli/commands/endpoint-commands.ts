import type { Command } from "commander";
import { ENDPOINT_CONTENTS } from "../../app/features.ts";
import { createEndpoint } from "../../endpoints/create-endpoint.ts";
import { moveEndpoint } from "../../endpoints/move-endpoint.ts";
import { deleteEndpoint } from "../../endpoints/delete-endpoint.ts";
import {
  listAllEndpoints,
  pauseEndpoint,
  resumeEndpoint,
  setChallengeSecret,
  setEndpoint,
  showEndpoint,
} from "../../endpoints/endpoint-operations.ts";
import { isOriginAllowed } from "../../endpoints/allowed-origin.ts";
import type { z } from "zod";
import { countOf } from "../../foundation/count-of.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { listHeld } from "../../submissions/held/held-operations.ts";
import { listAllWorkspaces } from "../../workspaces/workspace-operations.ts";
import { addNoun, command, type CommandContext, refuse } from "../command.ts";
import {
  languageOption,
  originOption,
  readChallengeSecretFile,
  readSettings,
  settingOptions,
} from "./endpoint-settings.ts";
import { withNewDatabase } from "../open.ts";
import { ifAllowed } from "../flags/endpoint-label.ts";
import { operate } from "../operate.ts";
import { operationCommand, type Printer } from "../operation-command.ts";
import type { PerformCommand, Terminal } from "../output/terminal.ts";
import { describePlan } from "./workspace-commands.ts";
import { readDefinition } from "./schema-commands.ts";
import { withKeyring } from "../with-keyring.ts";

/** The largest number of an endpoint's posts, held because of their origin, that are counted. */
const MAX_HELD_OF_ORIGINS = 100;

export function register(program: Command): void {
  addNoun(program, "endpoint", "Forms: one endpoint each", [
    create,
    list,
    show,
    rename,
    set,
    pause,
    resume,
    move,
    remove,
  ]);
}

/** An option of the verbs that name one endpoint. */
const workspaceOption = {
  flags: "--workspace <workspace>",
  summary: "workspace of the endpoint (needed if several have an endpoint of that name)",
} as const;

const create = command({
  usage: "create",
  summary: "Make an endpoint and print its two keys, once",
  options: [
    { flags: "--name <name>", summary: "name of the endpoint", required: true },
    { flags: "--schema <file>", summary: "the fields as JSON; - reads standard input", required: true },
    { flags: "--workspace <workspace>", summary: "workspace of the endpoint (needed if there are several)" },
    originOption,
    languageOption,
    { flags: "--env", summary: "print FORMSVC_… lines, for eval in a shell" },
  ],
  examples: [
    "formsvc endpoint create --name Contact --schema contact.json",
    'eval "$(formsvc endpoint create --name Contact --schema contact.json --env)"',
    "formsvc endpoint create --name Kontakt --schema kontakt.json --language de",
    `echo '{"email":{"type":"string","required":true,"format":"email"}}' | formsvc endpoint create --name News --schema -`,
  ],
  action: (context, options) => {
    const schema = readDefinition(options.schema);
    return operate(
      context,
      async (terminal) => {
        const { name, workspace, allowOrigin, language } = options;
        const settings = { allowed_origins: allowOrigin ?? [], language: language || null };
        const input = { name, schema, workspace, ...settings };
        const created = await terminal.perform(createEndpoint, input);
        printCreated(context, created, options.env);
        await showMore(context, terminal, created.endpoint);
      },
      withNewDatabase,
    );
  },
});

/**
 * Notes after a new endpoint: that commands need its id, if another endpoint has the same name; and with the first endpoint of a workspace,
 * what its plan allows.
 */
async function showMore(
  { output }: CommandContext,
  { perform, here }: Terminal,
  made: { readonly id: string; readonly name: string; readonly workspace_id: string },
): Promise<void> {
  const endpoints = (await ifAllowed(perform(listAllEndpoints, {})))?.data ?? [];
  if (endpoints.some(({ id, name }) => name === made.name && id !== made.id))
    output.note(`another endpoint is named ${made.name} too; commands take the id then, or WORKSPACE/NAME`);
  if (endpoints.filter(({ workspace_id }) => workspace_id === made.workspace_id).length > 1) return;
  const workspaces = (await ifAllowed(perform(listAllWorkspaces, {})))?.data ?? [];
  const workspace = workspaces.find(({ id }) => id === made.workspace_id);
  // The plans are in the configuration of the machine.
  if (workspace !== undefined && here !== null)
    output.note(`The plan is ${describePlan(workspace, here.config.plans, workspaces.length === 1)}`);
}

const list = operationCommand({
  usage: "list",
  options: [{ flags: "--workspace <workspace>", summary: "only endpoints of this workspace" }],
  operation: listAllEndpoints,
  input: ({ workspace }) => ({ workspace }),
  async print({ output, perform }, listed) {
    const { data = [] } = (await ifAllowed(perform(listAllWorkspaces, {}))) ?? {};
    const workspaces = new Map(data.map(({ id, name }) => [id, name]));
    const rows = listed.data.map(({ id, name, workspace_id, state, created_at }) => [
      id,
      name,
      workspaces.get(workspace_id) ?? workspace_id,
      state,
      created_at,
    ]);
    const empty = "no endpoints yet; make one with: formsvc endpoint create --name NAME --schema FILE";
    output.table(["ID", "NAME", "WORKSPACE", "STATE", "CREATED"], rows, empty);
  },
});

const show = operationCommand({
  usage: "show <endpoint>",
  options: [workspaceOption],
  operation: showEndpoint,
  input: ({ workspace }, [endpoint]) => ({ endpoint, workspace }),
  print({ output }, { endpoint }) {
    const rows = [
      ["id", endpoint.id],
      ["name", endpoint.name],
      ["workspace", endpoint.workspace_id],
      ["state", endpoint.state],
      ["allowed origins", endpoint.allowed_origins.join(", ") || "any"],
      ...endpoint.refused_origins.map((each) => ["refused origin", describeRefused(each)]),
      ["unknown fields", endpoint.unknown_fields],
      ["honeypots", endpoint.honeypots.join(", ")],
      ["success page", endpoint.success_url ?? "built in"],
      ["error page", endpoint.error_url ?? "built in"],
      ["language", endpoint.language ?? "the visitor's"],
      ["submissions kept", endpoint.keep_days === null ? "forever" : countOf(endpoint.keep_days, "day")],
      ["addresses stored", endpoint.store_address],
      ["challenge", challengeWords(endpoint)],
      ["own page", endpoint.page === "on" ? `/p/${endpoint.id}` : "off"],
      ["schema version", String(endpoint.schema_version)],
      ["fields", Object.keys(endpoint.schema).join(", ")],
      ["created", endpoint.created_at],
    ];
    output.table(["ENDPOINT", ""], rows, "");
  },
});

type Shown = z.output<(typeof showEndpoint)["output"]>["endpoint"];

function describeRefused({ origin, posts, last_at, ignored }: Shown["refused_origins"][number]): string {
  const count = countOf(posts, "post");
  return `${plainText(origin)}: ${count}, the last at ${last_at}${ignored ? ", ignored" : ""}`;
}

const rename = operationCommand({
  usage: "rename <endpoint> <name>",
  summary: "Give an endpoint another name",
  options: [workspaceOption],
  operation: setEndpoint,
  input: ({ workspace }, [endpoint, name]) => ({ endpoint, workspace, name }),
  print: printId,
});

const set = command({
  usage: "set <endpoint>",
  summary: "Change an endpoint's settings; each option replaces the whole setting",
  options: [workspaceOption, ...settingOptions],
  examples: [
    "formsvc endpoint set Contact --allow-origin https://example.com --allow-origin https://*.example.com",
    "formsvc endpoint set Contact --unknown-fields keep --honeypot website",
    "formsvc endpoint set Contact --page on --page-title 'Order a cake' --page-colour '#0b6e5f'",
    "formsvc endpoint set Contact --challenge pow --challenge-required on",
  ],
  action: (context, options, [reference]) => {
    const settings = readSettings(options);
    const { ignoreOrigin, heedOrigin, challengeSecretFile: file } = options;
    const secret = file === null ? undefined : readChallengeSecretFile(file);
    const isMarked = ignoreOrigin !== null || heedOrigin !== null;
    const isPlain = Object.keys(settings).length > 0 || isMarked;
    if (!isPlain && secret === undefined) return refuse("give something to change, like --keep-days 90");
    return operate(context, async ({ perform }) => {
      const owner = { endpoint: reference, workspace: options.workspace };
      const setPlain = () =>
        perform(setEndpoint, {
          ...owner,
          ...settings,
          ignore_origins: ignoreOrigin ?? [],
          heed_origins: heedOrigin ?? [],
        });
      const setSecret = (to: string | null) =>
        perform(setChallengeSecret, { ...owner, secret: to }, withKeyring);
      // The form of the secret is checked by now, so everything that can be refused was refused before this change.
      const plain = isPlain ? await setPlain() : null;
      const changed = secret === undefined ? plain : await setSecret(secret);
      if (changed === null) return;
      if (context.output.isJson) context.output.json(changed);
      else printId(context, changed);
      if (options.allowOrigin === null) return;
      for (const line of await describeHeld(perform, changed.endpoint)) context.output.note(line);
    });
  },
});

function challengeWords({ challenge, challenge_required: required }: Shown): string {
  return challenge === "off" || required === "off" ? challenge : `${challenge}, required`;
}

/** A note about the posts that are still held because their site was refused before. */
async function describeHeld(
  perform: PerformCommand,
  { id, allowed_origins: allowed }: Pick<Shown, "id" | "allowed_origins">,
): Promise<string[]> {
  const asked = perform(listHeld, { endpoint: id, why: "origin", limit: MAX_HELD_OF_ORIGINS });
  const held = (await ifAllowed(asked))?.data ?? [];
  const counts = new Map<string, number>();
  for (const { origin, spam_class: spamClass } of held) {
    if (origin === undefined || spamClass === "blocked" || !isOriginAllowed(origin, allowed)) continue;
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts].map(([origin, count]) => {
    const said = `${countOf(count, "post")} from ${plainText(origin)} ${count === 1 ? "is" : "are"} held`;
    return `${said}; see: formsvc held list --endpoint ${id} --why origin; then: formsvc held release HELD`;
  });
}

const pause = operationCommand({
  usage: "pause <endpoint>",
  options: [workspaceOption],
  operation: pauseEndpoint,
  input: ({ workspace }, [endpoint]) => ({ endpoint, workspace }),
  print: printId,
});

const resume = operationCommand({
  usage: "resume <endpoint>",
  options: [workspaceOption],
  operation: resumeEndpoint,
  input: ({ workspace }, [endpoint]) => ({ endpoint, workspace }),
  print: printId,
});

const move = operationCommand({
  usage: "move <endpoint>",
  notes:
    "Ids, keys and submissions do not change. The month's count stays with the workspace\nthat took the posts, and so do its spam settings and what its filter learned. Service\ntokens bound to the endpoint end. If it is interrupted, run it again.",
  options: [
    workspaceOption,
    { flags: "--to <workspace>", summary: "workspace that gets it: its id or name", required: true },
  ],
  examples: ["formsvc endpoint move Contact --to 'Client sites'"],
  operation: moveEndpoint,
  parts: () => ({ endpointContents: ENDPOINT_CONTENTS }),
  input: ({ workspace, to }, [endpoint]) => ({ endpoint, workspace, to }),
  print: printId,
});

const remove = operationCommand({
  usage: "delete <endpoint>",
  summary:
    "Delete an endpoint with its keys, schemas and all its submissions; if it is interrupted, run it again",
  options: [workspaceOption],
  operation: deleteEndpoint,
  parts: () => ({ endpointContents: ENDPOINT_CONTENTS }),
  input: ({ workspace }, [endpoint]) => ({ endpoint, workspace }),
  async ask(input, { perform }) {
    const { id, name } = (await perform(showEndpoint, input)).endpoint;
    return { text: `Delete ${id} (${name}) and all its submissions?`, about: { endpoint: id } };
  },
  print: printId,
});

function printCreated(
  { output }: CommandContext,
  created: z.output<(typeof createEndpoint)["output"]>,
  asVariables: boolean,
): void {
  const { endpoint, keys } = created;
  output.mustBeTaken(
    `the endpoint ${endpoint.id} is there and its keys are unknown: issue others, or delete it`,
  );
  if (output.isJson) return output.json(created);
  if (asVariables) {
    output.line(`FORMSVC_ENDPOINT_ID=${endpoint.id}`);
    if (keys.secret !== null) output.line(`FORMSVC_SECRET_KEY=${keys.secret}`);
    output.line(`FORMSVC_PUBLISHABLE_KEY=${keys.publishable}`);
  } else {
    output.line(`endpoint     ${endpoint.id}`);
    if (keys.secret !== null) output.line(`secret       ${keys.secret}`);
    output.line(`publishable  ${keys.publishable}`);
  }
  return output.note(
    keys.secret === null
      ? "The key is shown this once and cannot be recovered. There is no secret key: an owner of the workspace issues one if a server needs it."
      : "The keys are shown this once and cannot be recovered. The secret key belongs on servers only.",
  );
}

function printId(
  { output }: Pick<Printer, "output">,
  { endpoint }: z.output<typeof setEndpoint.output>,
): void {
  output.line(endpoint.id);
}
