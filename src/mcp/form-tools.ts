import { z } from "zod";
import { listFindings } from "../doctor/finding-operations.ts";
import { listAllEndpoints, showEndpoint } from "../endpoints/endpoint-operations.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { isId } from "../foundation/id.ts";
import { jsonObject } from "../operations/json-object.ts";
import { parseDefinition } from "../schemas/definition.ts";
import { formSnippet } from "../schemas/form-snippets.ts";
import { listWebhookDeliveries, replayWebhook, showWebhookDelivery } from "../webhooks/webhook-deliveries.ts";
import { webhookOperations } from "../webhooks/webhook-operations.ts";
import { listUsages, showUsage } from "../workspaces/usage-operations.ts";
import {
  endpointArgument,
  idArgument,
  listArguments,
  pageArguments,
  pageOf,
  tool,
  wholePageArguments,
  workspaceArgument,
} from "./tool.ts";

export const listEndpoints = tool({
  name: "list_endpoints",
  title: "List forms",
  description: "Lists the forms with their settings.",
  group: null,
  input: z.strictObject({ workspace: workspaceArgument.optional(), ...wholePageArguments }),
  operations: [listAllEndpoints],
  async run({ call }, { workspace, ...asked }) {
    const { data } = await call(listAllEndpoints, { workspace });
    const { page, next_cursor } = pageOf(data, asked, "ep");
    return { answer: { endpoints: page, next_cursor }, ids: page.map(({ id }) => id) };
  },
});

export const getEndpoint = tool({
  name: "get_endpoint",
  title: "Show a form",
  description: "Shows a form's settings and fields, and the sites whose posts were refused.",
  group: null,
  input: z.strictObject({ endpoint: endpointArgument }),
  operations: [showEndpoint],
  async run({ call }, reference) {
    const { endpoint } = await call(showEndpoint, reference);
    const { refused_origins: refused, ...shown } = endpoint;
    return {
      answer: { endpoint: shown },
      // The origins are untrusted, because the sender of a post chooses them.
      ...(refused.length > 0 && {
        untrusted: [{ id: endpoint.id, content: { refused_origins: refused } }],
      }),
      ids: [endpoint.id],
      endpoint: endpoint.id,
    };
  },
});

export const listWebhooks = tool({
  name: "list_webhooks",
  title: "List webhooks",
  description: "Lists where submissions are sent over HTTP, and whether that works.",
  group: null,
  input: z.strictObject({ ...listArguments, ...wholePageArguments }),
  operations: [webhookOperations.list],
  async run({ call }, { endpoint, workspace, ...asked }) {
    const { data } = await call(webhookOperations.list, { endpoint, workspace });
    const { page, next_cursor } = pageOf(data, asked, "wh");
    const webhooks = page.map((each) => ({ ...each, url: withoutQuery(each.url) }));
    return { answer: { webhooks, next_cursor }, ids: page.map(({ id }) => id) };
  },
});

/** The address without its query, in which some services have their secret. */
function withoutQuery(url: string): string {
  const [address = "", query] = url.split("?", 2);
  return query === undefined ? address : `${address}?…`;
}

export const listDeliveries = tool({
  name: "list_deliveries",
  title: "List deliveries",
  description:
    "Lists deliveries to webhooks, the newest first; with the id of one delivery, its attempts and answers.",
  group: null,
  input: z.strictObject({
    ...listArguments,
    id: idArgument
      .optional()
      .describe(
        "Id of a webhook (wh_…), to list only its deliveries, or of a delivery (msg_…), to list its attempts.",
      ),
    ...pageArguments,
  }),
  operations: [listWebhookDeliveries, showWebhookDelivery],
  async run({ call, may }, { id, ...page }) {
    if (id !== undefined && isId("msg", id)) {
      const { delivery, data } = await call(showWebhookDelivery, { delivery: id });
      const attempts = data.map(({ answer: _answer, message: _message, ...each }) => each);
      // The answers are untrusted, because anybody may run a receiver.
      const content = data.map(({ number, message, answer }) => ({ number, message, answer }));
      // Some receivers repeat what they were sent, which not everybody who sees deliveries may read.
      const redacts = !may("submissions:read");
      return { answer: { delivery, attempts }, untrusted: [{ id, content }], ids: [id], redacts };
    }
    const { data, next_cursor } = await call(listWebhookDeliveries, { webhook: id, ...page });
    return { answer: { deliveries: data, next_cursor }, ids: data.map((each) => each.id) };
  },
});

/** The largest number of workspaces whose usage one call shows. */
const MAX_USAGES = 50;

export const getUsage = tool({
  name: "get_usage",
  title: "Show usage",
  description:
    "Shows how many submissions of this month count, and the plan's limit; of several workspaces the fullest.",
  group: null,
  input: z.strictObject({ workspace: workspaceArgument.optional() }),
  operations: [showUsage, listUsages],
  async run({ call }, { workspace }) {
    const data =
      workspace === undefined ? (await call(listUsages, {})).data : [await call(showUsage, { workspace })];
    const usage = data.slice(0, MAX_USAGES);
    return {
      answer: { usage, left_out: data.length - usage.length },
      ids: usage.map((each) => each.workspace_id),
    };
  },
});

export const getFindings = tool({
  name: "get_findings",
  title: "Show findings",
  description: "Shows whether the installation is well, and what an operator should do.",
  group: null,
  input: z.strictObject({}),
  operations: [listFindings],
  async run({ call }) {
    const { healthy, checks } = await call(listFindings, {});
    return {
      answer: { healthy, checks: checks.map(({ name, ok }) => ({ name, ok })) },
      // The messages are untrusted: they name forms and sites, and quote what was sent.
      untrusted: checks
        .filter(({ ok }) => !ok)
        .map(({ name, message, advice }) => ({ id: name, content: { message, advice } })),
      ids: [],
    };
  },
});

export const checkSchema = tool({
  name: "check_schema",
  title: "Check fields",
  description: "Says whether fields, as JSON, are a schema that a form can have. Nothing is stored.",
  group: null,
  input: z.strictObject({ schema: jsonObject }),
  operations: [],
  async run(_context, { schema }) {
    return { answer: await problemsOfSchema(schema), ids: [] };
  },
});

async function problemsOfSchema(schema: unknown): Promise<object> {
  try {
    return { valid: true, fields: Object.keys(parseDefinition(schema)) };
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    return {
      valid: false,
      problems: error.facts.details?.["problems"] ?? [{ path: "", message: error.message }],
    };
  }
}

/** Stands for a key, which no tool may show. */
const KEY_PLACEHOLDER = "YOUR_PUBLISHABLE_KEY";
const SERVER_PLACEHOLDER = "https://YOUR-SERVER";

export const getSnippet = tool({
  name: "get_snippet",
  title: "Show the HTML of a form",
  description: `Shows HTML with all fields of a form. Its owner puts the publishable key in the place of ${KEY_PLACEHOLDER}.`,
  group: null,
  input: z.strictObject({ endpoint: endpointArgument }),
  operations: [showEndpoint],
  async run({ call, baseUrl }, reference) {
    const { endpoint } = await call(showEndpoint, reference);
    const definition = parseDefinition(endpoint.schema);
    const html = formSnippet(definition, {
      base: baseUrl ?? SERVER_PLACEHOLDER,
      key: KEY_PLACEHOLDER,
      honeypot: endpoint.honeypots.find((name) => !Object.hasOwn(definition, name)) ?? null,
      language: endpoint.language,
      challenge: { kind: endpoint.challenge, siteKey: endpoint.challenge_site_key },
    });
    return { answer: { html }, ids: [endpoint.id], endpoint: endpoint.id };
  },
});

export const replayDelivery = tool({
  name: "replay_delivery",
  title: "Send a delivery again",
  description: "Sends one delivery again, to the webhook that it belongs to.",
  group: "replay",
  input: z.strictObject({ id: idArgument.describe("Id of the delivery: msg_ and 26 characters.") }),
  operations: [replayWebhook],
  async run({ call }, { id }) {
    return { answer: await call(replayWebhook, { delivery: id }), ids: [id] };
  },
});
