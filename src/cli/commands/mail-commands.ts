import type { Command } from "commander";
import { dashboardUrlOf } from "../../app/transports.ts";
import type { Config } from "../../config/config.ts";
import { getEndpoint } from "../../endpoints/endpoint-store.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import type { Brand } from "../../foundation/brand.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { parseMailAddress } from "../../foundation/mail-address.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { classifyMail } from "../../mail/smtp/classify-mail.ts";
import { readSmtpSettings } from "../../mail/smtp/read-smtp-settings.ts";
import { sendTestMail } from "../../mail/health/send-test-mail.ts";
import type { SmtpExchange } from "../../mail/smtp/smtp-dialogue.ts";
import { testMailJson } from "../../mail/health/test-mail-json.ts";
import { createSmtpSender } from "../../mail/smtp/smtp-sender.ts";
import type { SmtpSettings } from "../../mail/smtp/smtp-settings.ts";
import { readBrand } from "../../workspaces/workspace-settings.ts";
import { addNoun, command, type CommandContext, refuse } from "../command.ts";
import { deliveryCommands } from "./delivery-commands.ts";
import { readSettings, withDatabase } from "../open.ts";

export function register(program: Command): void {
  addNoun(program, "mail", "Sending e-mail over the mail server of the configuration", [
    check,
    test,
    ...deliveryCommands("mail"),
  ]);
}

const check = command({
  usage: "check",
  summary: "Talk to the mail server up to the sender's address, and print each of its answers; sends nothing",
  examples: ["formsvc mail check"],
  action: async (context) => {
    const settings = mailServerOf(readSettings(context));
    const { host, port, security, from } = settings;
    const { output } = context;
    if (!output.isJson) output.line(`connecting to ${host}, port ${port}, security ${security}`);
    const exchanges: SmtpExchange[] = [];
    const sender = createSmtpSender(settings);
    const result = await sender.check((exchange) => {
      exchanges.push(exchange);
      if (!output.isJson) output.line(describeExchange(exchange));
    });
    await sender.close();
    const { stage, durationMs } = result;
    const failure = stage === "done" ? null : classifyMail(result);
    if (output.isJson) {
      output.json({
        ready: failure === null,
        server: { host, port, security },
        stage,
        outcome: failure?.outcome ?? null,
        message: failure?.message ?? null,
        duration_ms: durationMs,
        replies: exchanges.map(exchangeJson),
      });
    } else if (failure === null) output.line(`ready: it takes e-mail from ${from} (${durationMs} ms)`);
    if (failure !== null) throw new FormsvcError("failed", `failed at the step ${stage}. ${failure.message}`);
  },
});

const test = command({
  usage: "test <address>",
  summary: "Send a short e-mail to an address now, in the same way as all others, and print the result",
  options: [
    {
      flags: "--endpoint <endpoint>",
      summary: "send an e-mail about an invented submission of this endpoint",
    },
  ],
  examples: ["formsvc mail test ada@example.org", "formsvc mail test ada@example.org --endpoint Contact"],
  action: async (context, options, [address]) => {
    const to =
      parseMailAddress(address) ?? refuse("expected one address without a name, like ada@example.org");
    const config = readSettings(context);
    const settings = mailServerOf(config);
    const endpoint = options.endpoint === null ? null : await findNamed(context, options.endpoint);
    const sender = createSmtpSender(settings);
    const sent = await sendTestMail(
      sender,
      { from: settings.from, to, endpoint, dashboardUrl: dashboardUrlOf(config) },
      context.clock.now(),
    );
    await sender.close();
    const result = testMailJson(sent);
    const { stage, outcome } = result;
    if (context.output.isJson) context.output.json(result);
    else context.output.line(`${outcome} after ${result.duration_ms} ms. ${result.message}`);
    if (stage !== "done") throw new FormsvcError("failed", `the e-mail was not sent: ${outcome}`);
    context.output.note(
      "the mail server took it; if it does not arrive, look among the spam, and at that server's log",
    );
  },
});

function findNamed(context: CommandContext, reference: string): Promise<Endpoint & { brand: Brand }> {
  return withDatabase(context, (db) =>
    db.read(function* () {
      const endpoint = yield* getEndpoint(reference);
      return { ...endpoint, brand: yield* readBrand(endpoint.workspaceId) };
    }),
  );
}

function mailServerOf({ mail, server }: Config): SmtpSettings {
  const settings = readSmtpSettings(mail, server.baseUrl);
  if (settings !== null) return settings;
  const message = "no mail server is configured: set mail.host and mail.from (see docs/notifications.md)";
  throw new FormsvcError("config_invalid", `mail.host: ${message}`, {
    details: { problems: [{ path: "mail.host", message }] },
  });
}

/** One line: the step, the command that was sent, and the server's reply. */
function describeExchange({ stage, command: said, reply }: SmtpExchange): string {
  const asked = said === null ? "" : `${said}: `;
  return plainText(`${stage.padEnd(8)} ${asked}${reply.code} ${reply.text}`.trim());
}

function exchangeJson({ stage, command: said, reply: { code, text } }: SmtpExchange) {
  return { stage, command: said, code, text };
}
