import { describeError, type FormsvcError } from "../../foundation/errors.ts";
import type { Hint, Listener } from "../../foundation/hint.ts";

/** A text for each kind of hint, or a function that makes it from the hint's facts. */
type Words = {
  readonly [Kind in Hint["kind"]]: string | ((hint: Extract<Hint, { readonly kind: Kind }>) => string);
};

/** The flags or the setting that choose a listener's address. */
const ADDRESS: Readonly<Record<Listener, { readonly host: string; readonly port: string }>> = {
  dashboard: { host: "dashboard.listen", port: "dashboard.listen" },
  metrics: { host: "metrics.listen", port: "metrics.listen" },
  server: { host: "--host", port: "--port" },
  webhook_receiver: { host: "--port", port: "--port" },
};

/** What the command line says for each hint: the command that helps. */
const WORDS: Words = {
  check_mail_server: "formsvc mail check goes through each step; nothing is lost meanwhile",
  change_plan: ({ workspaceId }) => `formsvc workspace set-plan ${workspaceId} PLAN`,
  change_conditions: ({ recipientId }) =>
    `choose others: formsvc ${recipientId.startsWith("wh_") ? "webhook" : "recipient"} set ${recipientId} --when FIELD=VALUE…; '' clears them`,
  choose_free_port: ({ listener }) =>
    `stop what listens there, or choose another with ${ADDRESS[listener].port}`,
  choose_high_port: ({ listener }) => `choose a port from 1024 on with ${ADDRESS[listener].port}`,
  choose_known_host: ({ listener }) => `give an address of this machine with ${ADDRESS[listener].host}`,
  choose_own_address: ({ listener }) => `choose another with ${ADDRESS[listener].host}`,
  choose_endpoint: "choose one with --endpoint",
  choose_reply_field: ({ endpointId }) =>
    `choose another: formsvc autoreply set ${endpointId} --field NAME; or: formsvc autoreply off ${endpointId}`,
  choose_account: "choose one with --account; see: formsvc account list",
  choose_plan: "see: formsvc workspace set-plan",
  configure_or_change_plan: ({ workspaceId }) =>
    `add it to plans in the configuration, or: formsvc workspace set-plan ${workspaceId} PLAN`,
  delete_with_workspaces:
    "see: formsvc workspace delete, or add --with-workspaces; whose posts are to be kept, move them first: formsvc endpoint move",
  enable_recipient_or_keep_id: "enable its webhook or recipient, or replay it without --as-new",
  encrypt_rest_of_secrets: "finish with: formsvc secrets encrypt",
  export_as_ndjson: "it is no export in NDJSON or JSON; a table is for submission import, with --format csv",
  heed_or_restore: "do what it says; if the file is damaged: formsvc restore FILE",
  issue_key: "issue a new one with: formsvc key issue",
  list_accounts: "see: formsvc account list",
  list_deliveries: "see: formsvc webhook deliveries, or formsvc mail deliveries",
  list_endpoints: "see: formsvc endpoint list",
  list_keys: "see: formsvc key list ENDPOINT",
  list_recipients: "see: formsvc recipient list",
  list_tokens: "see: formsvc token list",
  list_webhooks: "see: formsvc webhook list",
  list_workspaces: "see: formsvc workspace list",
  look_at_recipient: ({ recipientId }) =>
    `ask its holder, then: formsvc recipient enable ${recipientId}; if the address is wrong, remove it and add the right one`,
  look_at_webhook: ({ webhookId }) =>
    `formsvc webhook test ${webhookId} says why, by an invented submission; deliveries are kept`,
  set_challenge: ({ endpointId }) =>
    `see what the service asks for: formsvc endpoint set ${endpointId} --challenge-secret-file FILE`,
  allow_or_ignore_origin: ({ endpointId }) =>
    `if the site is yours, name it among the others: formsvc endpoint set ${endpointId} --allow-origin ORIGIN…; if not: --ignore-origin ORIGIN`,
  make_configuration: "make one with: formsvc init --config FILE",
  make_other_operator: "make another one first: formsvc account set EMAIL --operator",
  make_room_for_files:
    "delete submissions whose files are not needed any more; or raise files.maxTotalBytes (is there disk for it?) and restart the server",
  make_room_for_held_posts:
    "formsvc held list, then release or drop them; or raise held.maxPerWorkspace, heldBytes of the plan or held.maxBytes, and restart the server",
  raise_form_share:
    "if somebody fills it on purpose, a challenge stops programs: formsvc endpoint set ENDPOINT --challenge …; if not, raise files.maxFormShare or fileBytes of the plan, and restart the server",
  migrate_beside_servers: "migrate it first, beside the servers: formsvc migrate up",
  name_database: "name the database with --db",
  name_foreign_file: ({ what, path }) =>
    `if it is the right one: ${what === "database" ? "--db" : "--config"} ${path}`,
  release_later_or_change_plan: "release it on a larger plan (formsvc workspace set-plan) or next month",
  replace_damaged_database:
    "stop the server, keep the file, and restore the newest backup: formsvc restore FILE",
  replace_ending_tokens: "make others in time and put them in their place: formsvc token create",
  replay_failed_deliveries: "once the receiver is well: formsvc webhook replay --failed",
  replay_failed_mail: "once what refused them is mended: formsvc mail replay --failed",
  restart_older_server: "the database is of an older version: restart the server with this one first",
  restore_or_make_key_file: "bring it back, or make a first one with: formsvc secrets rotate",
  rotate_leaked_key: "use the publishable key in pages, then: formsvc key rotate KEY",
  schedule_backups:
    "set backup.everyHours in the configuration and restart the server, or have cron run: formsvc backup FILE",
  set_mail_server:
    "set mail.host and mail.from in the configuration and restart the server; or remove the recipients: formsvc recipient list",
  set_clock:
    "set a wrong clock and keep it set: timedatectl set-ntp true; if it is right, it was ahead then, and this line stays until the next change of any settings",
  set_clock_or_wait:
    "set a wrong clock and keep it set: timedatectl set-ntp true; if it is right, because no server ran in between, there is nothing to do",
  set_clock_or_delete_submission: ({ submissionId }) =>
    "set a wrong clock and keep it set: timedatectl set-ntp true; if it is right, that was made while it was ahead, " +
    `and this line stays until then or until: formsvc submission delete ${submissionId}`,
  stop_older_servers: "stop them first, then: formsvc migrate up",
  stop_server: "stop it first, or use another --db",
  undo_structure_change: "undo that with sqlite3, or restore a sound backup: formsvc restore FILE",
  upgrade_plan: ({ workspaceId }) => `upgrade with: formsvc workspace set-plan ${workspaceId} PLAN`,
  upgrade_database: "restart the server with this version, or run: formsvc migrate up",
  vouch_for_accounts:
    "see who is in doubt: formsvc account list; ask the holder of each address, then: formsvc account vouch EMAIL",
  wait_or_keep_id: "let it be sent, or replay it without --as-new",
};

/** Whether a value from a server is a hint that has a text here. */
export function isHint(value: unknown): value is Hint {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  const { kind, ...facts } = value;
  const isKnown = typeof kind === "string" && Object.hasOwn(WORDS, kind);
  return isKnown && Object.values(facts).every((fact) => typeof fact === "string");
}

export function describeHint(hint: Hint): string {
  const words = WORDS[hint.kind] as string | ((hint: Hint) => string);
  return typeof words === "string" ? words : words(hint);
}

/** The text of an error for a person at the terminal: what is wrong, and the command that helps. */
export function describeFailure({ code, message, facts }: FormsvcError): string {
  const said = message === describeError(code).sentence ? begunSmall(message) : message;
  return facts.hint === undefined ? said : `${said}; ${describeHint(facts.hint)}`;
}

/** Gives a sentence of the error table the form of features' messages: it begins small and ends without a full stop. */
function begunSmall(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`;
}
