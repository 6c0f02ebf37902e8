import { Resolver } from "node:dns/promises";
import { FormsvcError } from "../../foundation/errors.ts";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { isPrivate, isThisMachine } from "../../foundation/ip-address.ts";
import { classifyMail } from "../smtp/classify-mail.ts";
import { createTxtLookup } from "./look-up-txt.ts";
import { type SmtpConfig, readSmtpSettings, sendsPasswordUnasked } from "../smtp/read-smtp-settings.ts";
import { checkSenderDomain } from "./sender-domain-health.ts";
import { createSmtpSender } from "../smtp/smtp-sender.ts";
import type { SmtpSettings } from "../smtp/smtp-settings.ts";

/** The time limit for the mail server, and for all lookups together; both run at the same time. */
const TIME_LIMIT_MS = 3000;

const CLEAR_PASSWORD =
  "mail.host is this machine, so with mail.security auto the password is sent to it in clear text; if it is the end of a tunnel, set mail.security to starttls or tls";

/** Whether e-mail leaves this machine without encryption. */
export function checkMailSecurity({ host, port, security, user }: SmtpConfig): Finding[] {
  if (host === null) return [];
  if (sendsPasswordUnasked({ host, security, user, port })) return [sound("mail.security", CLEAR_PASSWORD)];
  if (security !== "none" || isThisMachine(host))
    return [sound("mail.security", "no e-mail leaves in clear text")];
  const what = user === null ? "e-mail goes" : "e-mail and the password go";
  const message = `${what} to ${host} in clear text (mail.security is none)`;
  return [
    problem(
      "mail.security",
      message,
      "set mail.security to auto, unless the way there is yours alone and the server has no TLS",
    ),
  ];
}

/** The checks over the network: whether the mail server would accept e-mail, and what DNS says about the sender's domain. */
export async function checkMailNetwork(
  mail: SmtpConfig & { readonly operator: string | null },
  baseUrl: string | null,
  resolver: Resolver = new Resolver({ timeout: 1000, tries: 2 }),
): Promise<Finding[]> {
  let settings: SmtpSettings | null;
  try {
    settings = readSmtpSettings(mail, baseUrl);
  } catch (error) {
    if (!(error instanceof FormsvcError)) throw error;
    return [problem("mail.relay", error.message, "correct it, or run doctor as the user of the service")];
  }
  if (settings === null) return [];
  const [relay, domain] = await Promise.all([
    checkRelay(settings),
    isNear(settings.host) ? [NOT_LOOKED_UP] : lookUpDomain(settings, mail.operator, resolver),
  ]);
  return [relay, ...domain];
}

const NOT_LOOKED_UP = sound(
  "mail.domain",
  "SPF, DKIM and DMARC are not looked up, because the mail server is on this machine or in a private network",
);

/** Runs every step of `mail check` up to the sender, and sends nothing. */
async function checkRelay(settings: SmtpSettings): Promise<Finding> {
  const sender = createSmtpSender({ ...settings, timeoutMs: Math.min(settings.timeoutMs, TIME_LIMIT_MS) });
  const result = await sender.check();
  await sender.close();
  const { host, port, from } = settings;
  if (result.stage === "done") return sound("mail.relay", `${host}:${port} would take e-mail from ${from}`);
  const { message } = classifyMail(result);
  return problem("mail.relay", `${host}:${port} fails at the step ${result.stage}. ${message}`, {
    kind: "check_mail_server",
  });
}

async function lookUpDomain(
  settings: SmtpSettings,
  operator: string | null,
  resolver: Resolver,
): Promise<Finding[]> {
  const timer = setTimeout(() => resolver.cancel(), TIME_LIMIT_MS);
  try {
    return await checkSenderDomain(createTxtLookup(resolver), settings, operator);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Whether the mail server is one for tests, or one whose own way to receivers is not known here. A name without a dot belongs to a private
 * network.
 */
function isNear(host: string): boolean {
  return isThisMachine(host) || isPrivate(host) || !/[.:]/.test(host);
}
