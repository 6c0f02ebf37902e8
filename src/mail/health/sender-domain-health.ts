import { createPublicKey } from "node:crypto";
import { type Finding, problem, sound } from "../../foundation/finding.ts";
import { domainOf } from "../../foundation/mail-address.ts";
import type { AskTxt, TxtAnswer } from "./look-up-txt.ts";
import { oneLine } from "../compose/mail-text.ts";
import type { SmtpSettings } from "../smtp/smtp-settings.ts";

/** The largest number of characters of a record that are shown. */
const MAX_SHOWN = 200;
/** The largest number of domains that are asked for DMARC: the sender's domain and those above it. */
const MAX_DOMAINS = 5;

type Sender = Pick<SmtpSettings, "host" | "from" | "envelopeFrom" | "dkim">;

/** Checks what receivers find in DNS about the sender's domain. All lookups are made at once. */
export function checkSenderDomain(ask: AskTxt, sender: Sender, operator: string | null): Promise<Finding[]> {
  return Promise.all([checkSpf(ask, sender), checkDkim(ask, sender), checkDmarc(ask, sender, operator)]);
}

/** Checks SPF (RFC 7208), which says which servers may send for the domain of the envelope's sender. */
async function checkSpf(ask: AskTxt, { host, envelopeFrom }: Sender): Promise<Finding> {
  const domain = domainOf(envelopeFrom);
  const answer = await ask(domain);
  if (answer.kind === "failed") return unknown("mail.spf", domain, answer.why);
  if (answer.kind === "no_name")
    return problem(
      "mail.spf",
      `the domain ${domain} is not in DNS, and most receivers refuse e-mail from it`,
      "correct mail.from or mail.envelopeFrom, or register the domain",
    );
  const records = recordsOf(answer, /^v=spf1(?: |$)/i);
  const [record] = records;
  const include = `v=spf1 include:<the name that your mail provider gives for SPF> ~all; or, if ${host} sends to receivers itself, v=spf1 a:${host} ~all`;
  if (record === undefined)
    return problem(
      "mail.spf",
      `${domain} has no SPF record: receivers cannot tell a forgery from your e-mail`,
      `add a TXT record at ${domain}: ${include}`,
    );
  if (records.length > 1)
    return problem(
      "mail.spf",
      `${domain} has ${records.length} SPF records, and receivers then ignore all of them`,
      `make them one TXT record, with one v=spf1, every include, and one all at the end; the first is now: ${show(record)}`,
    );
  if (/ \+?all\b/i.test(record))
    return problem(
      "mail.spf",
      `the SPF record of ${domain} lets every server send for it: ${show(record)}`,
      "end it with ~all",
    );
  if (/^v=spf1 +-all *$/i.test(record))
    return problem(
      "mail.spf",
      `the SPF record of ${domain} says that it sends no e-mail`,
      `make it ${include}`,
    );
  return sound(
    "mail.spf",
    `${domain} names the servers that may send for it, and yours must be one: ${show(record)}`,
  );
}

/** Checks DKIM (RFC 6376): whether DNS has the public half of the signing key. */
async function checkDkim(ask: AskTxt, { dkim }: Sender): Promise<Finding> {
  if (dkim === null) return sound("mail.dkim", "signing is left to the mail server (mail.dkim is not set)");
  const name = `${dkim.selector}._domainkey.${dkim.domain}`;
  const answer = await ask(name);
  if (answer.kind === "failed") return unknown("mail.dkim", name, answer.why);
  const records = recordsOf(answer, /(?:^|;)\s*p\s*=/i);
  const keys = publicKeysOf(dkim.privateKey);
  const paste = `put this TXT record at ${name}: v=DKIM1; k=rsa; p=${keys[0]}`;
  const [record] = records;
  if (record === undefined)
    return problem(
      "mail.dkim",
      `${name} has no DKIM record, so receivers take the signature for a wrong one`,
      paste,
    );
  if (records.length > 1)
    return problem(
      "mail.dkim",
      `${name} has ${records.length} DKIM records, and receivers may take any`,
      `remove all, then ${paste}`,
    );
  const key = tagOf(record, "p").replace(/\s/g, "");
  if (keys.includes(key))
    return sound("mail.dkim", `${name} has the public key that belongs to mail.dkim.keyFile`);
  const is = key === "" ? "says that its key is revoked" : "has another key than mail.dkim.keyFile";
  return problem("mail.dkim", `${name} ${is}, so every signature is wrong`, paste);
}

/** Checks DMARC (RFC 7489), which says what receivers do with e-mail of the `mail.from` domain that neither SPF nor DKIM proves. */
async function checkDmarc(ask: AskTxt, { from }: Sender, operator: string | null): Promise<Finding> {
  const domain = domainOf(from);
  const asked = domainsFrom(domain).map(async (each) => ({ each, answer: await ask(`_dmarc.${each}`) }));
  for (const { each, answer } of await Promise.all(asked)) {
    const name = `_dmarc.${each}`;
    if (answer.kind === "failed") return unknown("mail.dmarc", name, answer.why);
    const records = recordsOf(answer, /^v\s*=\s*DMARC1\s*(?:;|$)/i);
    const [record] = records;
    if (record !== undefined) return readDmarc(name, record, records.length, each !== domain);
  }
  return problem(
    "mail.dmarc",
    `${domain} has no DMARC record, and large receivers distrust e-mail of such domains`,
    `add a TXT record at _dmarc.${domain}: v=DMARC1; p=none; rua=mailto:${operator ?? `postmaster@${domain}`}`,
  );
}

const POLICIES: Readonly<Partial<Record<string, string>>> = {
  none: "is delivered and reported",
  quarantine: "goes to the spam",
  reject: "is refused",
};

function readDmarc(name: string, record: string, count: number, isOfParent: boolean): Finding {
  if (count > 1)
    return problem(
      "mail.dmarc",
      `${name} has ${count} DMARC records, and receivers then ignore all of them`,
      `keep one; the first is now: ${show(record)}`,
    );
  const policy = (isOfParent ? tagOf(record, "sp") : "") || tagOf(record, "p");
  const effect = POLICIES[policy.toLowerCase()];
  if (effect === undefined)
    return problem(
      "mail.dmarc",
      `the DMARC record at ${name} has no policy that receivers know: ${show(record)}`,
      "give it p=none, p=quarantine or p=reject",
    );
  return sound(
    "mail.dmarc",
    `by ${name}, e-mail that neither SPF nor DKIM proves ${effect} (p=${policy.toLowerCase()})`,
  );
}

/** The domain and the domains above it, except the last label alone. The nearest one with a record counts. */
function domainsFrom(domain: string): string[] {
  const labels = domain.split(".");
  const all = labels.map((_, index) => labels.slice(index).join(".")).filter((each) => each.includes("."));
  return all.length <= MAX_DOMAINS ? all : [domain, ...all.slice(1 - MAX_DOMAINS)];
}

function recordsOf(answer: TxtAnswer, beginning: RegExp): string[] {
  return answer.kind === "records" ? answer.records.filter((record) => beginning.test(record)) : [];
}

/** The value of `name=value` between semicolons; empty if there is none. */
function tagOf(record: string, name: string): string {
  for (const tag of record.split(";")) {
    const at = tag.indexOf("=");
    if (at > 0 && tag.slice(0, at).trim().toLowerCase() === name) return tag.slice(at + 1).trim();
  }
  return "";
}

/** The public key in base64, in both forms that DNS may have: the usual one (SPKI), and the other one that RFC 6376 names (PKCS #1). */
function publicKeysOf(privateKey: string): readonly string[] {
  const key = createPublicKey(privateKey);
  return (["spki", "pkcs1"] as const).map((type) => key.export({ type, format: "der" }).toString("base64"));
}

function unknown(name: string, asked: string, why: string): Finding {
  return problem(
    name,
    `${asked} could not be looked up: ${why}`,
    "run doctor again; if it stays, look at the DNS of this machine and of the domain",
  );
}

/** Shows a record in one line, because it is a stranger's text. */
function show(record: string): string {
  return oneLine(record, MAX_SHOWN);
}
