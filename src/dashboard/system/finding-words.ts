import { pageWords } from "../kit/sentence.ts";
import { timeText } from "../kit/time.ts";

/** The subject of a check, in words. */
export function checkName(name: string): string {
  return HEADINGS[name] ?? "Other";
}

const HEADINGS: Readonly<Record<string, string>> = {
  "accounts.doubt": "Accounts in doubt",
  "backups.age": "Backup",
  "config.file": "Configuration",
  "config.token": "Secrets in the configuration",
  "dashboard.address": "Dashboard",
  "database.durability": "Commits",
  "database.file": "Database file",
  "database.integrity": "Database content",
  "database.log": "Write-ahead log",
  "database.schema": "Database version",
  "database.server": "Database server",
  "database.structure": "Database tables",
  "disk.space": "Disk",
  "doctor.check": "Checks",
  "endpoints.origins": "Sites",
  "endpoints.challenge": "Challenges",
  "files.chunks": "Bytes of files",
  "files.leftovers": "Leftover files",
  "files.modes": "File rights",
  "files.deletions": "Files to be deleted in the store",
  "files.addresses": "Files of one address",
  "files.room": "Room for files",
  "files.scanner": "Virus scanner",
  "files.store": "Store of files",
  "forms.inputs": "Inputs beside the fields",
  "forms.redirects": "Pages after a form",
  "held.room": "Held posts",
  "keys.leaked": "Keys",
  "limits.monthly": "Plans",
  "machine.clock": "Clock",
  "mail.failed": "E-mail given up",
  "mail.letters": "Letters of the server",
  "mail.recipients": "E-mail recipients",
  "mail.replies": "Automatic reply",
  "mail.security": "E-mail on its way",
  "mail.server": "Mail server",
  "metrics.address": "Metrics",
  "notifications.conditions": "Conditions",
  "oidc.issuer": "Sign-in by an issuer",
  "proxies.trusted": "Proxy",
  "secrets.encryption": "Secrets",
  "tokens.expiry": "Tokens",
  "webhooks.failed": "Messages",
  "webhooks.receivers": "Webhooks",
};

const ISO_TIME = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;
/** Matches an id after the name of its row. The advice links to the row's page. */
const ID = / \([a-z]+_[0-9a-z]{26}\)/g;

/** Matches the text of a program, like `ECONNREFUSED: connect …`, which helps people who look closer. */
const RAW = / \(([A-Z][A-Z0-9_]{3,}: [^()]*(?:\([^()]*\)[^()]*)*)\)/g;

/** The texts of programs in a message, which are shown folded; empty if there are none. */
export function rawWords(message: string): string {
  return [...message.matchAll(RAW)].map(([, raw]) => raw).join("; ");
}

/** The message of a check without the parts that only a terminal needs. */
export function findingText(message: string): string {
  return pageWords(message.replaceAll(ID, "").replaceAll(RAW, "")).replaceAll(ISO_TIME, (iso) =>
    timeText(Date.parse(iso)),
  );
}
