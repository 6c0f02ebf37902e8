import { readFileSync } from "node:fs";
import { openKeyring } from "../../app/features.ts";
import { createWebhookSender, dashboardUrlOf } from "../../app/transports.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { type Arrival, BEHAVIOURS, startLocalReceiver } from "../../webhooks/local-receiver.ts";
import { findSignatureProblem, secretKey } from "../../webhooks/sign.ts";
import { TEST_DATA } from "../../webhooks/send-test.ts";
import { TestSlots } from "../../webhooks/test-slots.ts";
import { testWebhook as sendTestMessage } from "../../webhooks/test-webhook.ts";
import { webhookOperations } from "../../webhooks/webhook-operations.ts";
import { parseCount, parseJson, readInput, readLines } from "../flags/arguments.ts";
import { command, type CommandContext, refuse } from "../command.ts";
import { operate } from "../operate.ts";
import type { Here } from "../output/terminal.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { Output } from "../output/output.ts";

const DEFAULT_LISTEN_PORT = 8788;
const DEFAULT_RETRY_AFTER_SECONDS = 30;
/** The longest `Retry-After` that the receiver can be told to send: a day. */
const MAX_RETRY_AFTER_SECONDS = 86_400;
const MAX_COUNT = 1_000_000;

export const testWebhook = command({
  usage: "test <webhook>",
  summary: "Send an invented submission once, now, and print the result",
  options: [{ flags: "--data <file>", summary: "the submission's fields as JSON; - reads standard input" }],
  examples: ["formsvc webhook test wh_01h455vb4pex5vsknk084sn02q"],
  action: (context, options, [id]) =>
    operate(context, async ({ perform, here }) => {
      await perform(webhookOperations.show, { webhook: id });
      const data = readData(options.data);
      const sender = here && createWebhookSender(here.config);
      const parts = async ({ db, config }: Here) => ({
        keyring: await db.read(() => openKeyring(config)),
        sender: sender ?? createWebhookSender(config),
        testSlots: new TestSlots(),
        dashboardUrl: dashboardUrlOf(config),
      });
      try {
        const result = await perform(sendTestMessage, { webhook: id, data }, parts);
        const { outcome, duration_ms, message } = result;
        if (context.output.isJson) context.output.json(result);
        else context.output.line(`${outcome} after ${duration_ms} ms. ${message}`);
        if (outcome !== "delivered")
          throw new FormsvcError("failed", `the test was not delivered: ${outcome}`);
      } finally {
        await sender?.destroy();
      }
    }),
});

export const verify = command({
  usage: "verify",
  isLocal: true,
  summary: "Verify a message whose body is on standard input; needs no database",
  options: [
    {
      flags: "--secret <secret>",
      summary: "the secret of the webhook, whsec_…; repeatable; other users see it in ps",
      repeatable: true,
    },
    { flags: "--secret-file <file>", summary: "a file with secrets, one a line, which nobody sees in ps" },
    { flags: "--id <id>", summary: "the webhook-id header", required: true },
    { flags: "--timestamp <seconds>", summary: "the webhook-timestamp header", required: true },
    { flags: "--signature <signature>", summary: "the webhook-signature header", required: true },
    { flags: "--any-time", summary: "accept a message of any age" },
  ],
  examples: [
    "formsvc webhook verify --secret-file secret.txt --id msg_… --timestamp 1790000000 --signature 'v1,…' < body.json",
  ],
  action: (context, options) => {
    if (options.secretFile === "-") return refuse("standard input is the body; name a file with the secret");
    const keys = readKeys(options);
    if (keys.length === 0) return refuse("give the secret, with --secret-file or --secret");
    const { id, timestamp, signature, anyTime } = options;
    // Standard input is read as bytes, because a byte order mark or broken text is part of what was signed.
    const message = { id, timestamp, body: readFileSync(0) };
    const nowMs = anyTime ? Number(timestamp) * 1000 : context.clock.now();
    const problem = findSignatureProblem(message, signature, keys, nowMs);
    if (context.output.isJson) context.output.json({ valid: problem === null, problem });
    else if (problem === null) context.output.line("genuine");
    if (problem !== null) throw new FormsvcError("failed", `not genuine: ${problem}`);
    return undefined;
  },
});

export const listen = command({
  usage: "listen",
  isLocal: true,
  summary: "Run a local receiver that verifies its messages, and fails if asked to",
  options: [
    {
      flags: "--port <port>",
      summary: `port on the loopback address (default: ${DEFAULT_LISTEN_PORT}; 0 takes any free one)`,
      parse: parsePort,
    },
    {
      flags: "--secret <secret>",
      summary: "the secret of the webhook, whsec_…; repeatable; other users see it in ps",
      repeatable: true,
    },
    {
      flags: "--secret-file <file>",
      summary: "a file with secrets, one a line, which nobody sees in ps; - reads standard input",
    },
    { flags: "--answer <way>", summary: "how to answer (default: ok)", choices: BEHAVIOURS },
    {
      flags: "--times <count>",
      summary: "answer like that this number of times, and then with success",
      parse: parseCount(MAX_COUNT),
    },
    {
      flags: "--retry-after <seconds>",
      summary: `seconds after which a busy receiver asks to try again (default: ${DEFAULT_RETRY_AFTER_SECONDS})`,
      parse: parseCount(MAX_RETRY_AFTER_SECONDS),
    },
  ],
  examples: ["formsvc webhook listen --secret whsec_…", "formsvc webhook listen --answer busy --times 3"],
  action: async (context, options) => {
    const { port, answer, times, retryAfter } = options;
    const receiver = await startLocalReceiver({
      host: "127.0.0.1",
      port: port ?? DEFAULT_LISTEN_PORT,
      keys: readKeys(options),
      behaviour: answer ?? "ok",
      times: times ?? Number.POSITIVE_INFINITY,
      retryAfterSeconds: retryAfter ?? DEFAULT_RETRY_AFTER_SECONDS,
      clock: context.clock,
      onArrival: (arrival) => printArrival(context.output, arrival),
    });
    announce(context, receiver.url);
    await new Promise<void>((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    });
    await receiver.close();
  },
});

function announce({ output }: CommandContext, url: string): void {
  if (output.isJson) return output.jsonLine({ listening: url });
  output.note(`listening on ${url}; send to it with:`);
  return output.note(`  formsvc webhook create --endpoint ENDPOINT --url ${url} --allow-private`);
}

function printArrival(output: Output, { id, body, problem, status }: Arrival): void {
  const verified = problem === undefined ? null : problem === null;
  const content = body.toString("utf8");
  if (output.isJson)
    return output.jsonLine({ id, verified, problem: problem ?? null, status, body: content });
  const verdict = problem === undefined ? "unverified" : (problem ?? "verified");
  const answer = status === null ? "dropped" : `answered ${status}`;
  output.line(plainText(`${id}  ${verdict}  ${answer}`));
  return output.line(`  ${plainText(content)}`);
}

interface GivenSecrets {
  readonly secret: readonly string[] | null;
  readonly secretFile: string | null;
}

/** The keys of all given secrets. @throws usage */
function readKeys({ secret, secretFile }: GivenSecrets): readonly Buffer[] {
  const lines = secretFile === null ? [] : readLines(secretFile).map((line) => line.trim());
  return [...(secret ?? []), ...lines].map(secretKey);
}

function readData(file: string | null): Record<string, unknown> {
  if (file === null) return TEST_DATA;
  const value = parseJson(readInput(file), file);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new FormsvcError("usage", `${file}: expected a JSON object`);
}

function parsePort(value: string): number {
  return /^\d{1,5}$/.test(value) && Number(value) <= 65_535
    ? Number(value)
    : refuse("expected a port from 0 to 65535");
}
