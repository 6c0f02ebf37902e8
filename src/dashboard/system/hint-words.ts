import type { Finding } from "../../foundation/finding.ts";
import { isId } from "../../foundation/id.ts";
import type { Hint } from "../../foundation/hint.ts";
import { html, type Html } from "../../foundation/html.ts";

interface Advice {
  readonly text: string;
  /** The page on which it can be done. */
  readonly href?: string;
}

/** What a page says for a hint: the page that helps, or that only the command line can do it. */
const WORDS: Partial<{
  readonly [Kind in Hint["kind"]]: (hint: Extract<Hint, { readonly kind: Kind }>) => Advice;
}> = {
  check_mail_server: () => ({
    text: "Mend the settings under mail in the configuration, or the mail server; mail check at the command line goes through each step",
  }),
  change_plan: () => ({ text: "Put the workspace on a larger plan", href: "/dashboard/system/workspaces" }),
  change_conditions: ({ recipientId }) => ({
    text: "Change its conditions",
    href: `/dashboard/${isId("wh", recipientId) ? "webhooks" : "recipients"}/${recipientId}/edit`,
  }),
  set_challenge: ({ endpointId }) => ({
    text: "Look at the challenge and its secret",
    href: `/dashboard/endpoints/${endpointId}/challenge`,
  }),
  allow_or_ignore_origin: ({ endpointId }) => ({
    text: "Allow the site, or say that it is none of yours",
    href: `/dashboard/endpoints/${endpointId}`,
  }),
  choose_reply_field: ({ endpointId }) => ({
    text: "Choose another field, or turn it off",
    href: `/dashboard/endpoints/${endpointId}/reply`,
  }),
  configure_or_change_plan: () => ({
    text: "Add the plan to the configuration, or choose another",
    href: "/dashboard/system/workspaces",
  }),
  encrypt_rest_of_secrets: () => ({ text: "Encrypt the rest at the command line: secrets encrypt" }),
  heed_or_restore: () => ({ text: "If the file is damaged, restore a backup at the command line" }),
  list_recipients: () => ({ text: "See all recipients", href: "/dashboard/notifications" }),
  look_at_recipient: ({ recipientId }) => ({ text: "See why", href: `/dashboard/recipients/${recipientId}` }),
  look_at_webhook: ({ webhookId }) => ({ text: "See why", href: `/dashboard/webhooks/${webhookId}` }),
  make_configuration: () => ({ text: "Make a configuration file at the command line: init" }),
  make_room_for_files: () => ({
    text: "Delete submissions whose files are not needed any more, or raise files.maxTotalBytes",
  }),
  make_room_for_held_posts: () => ({ text: "Release or drop some", href: "/dashboard/held" }),
  raise_form_share: () => ({
    text: "If somebody fills it on purpose, set a challenge for the form; if not, raise files.maxFormShare or fileBytes of the plan",
  }),
  replace_damaged_database: () => ({
    text: "Stop the server, keep the file, and restore the newest backup at the command line",
  }),
  replace_ending_tokens: () => ({
    text: "Make others in time and put them in their place",
    href: "/dashboard/account/tokens",
  }),
  replay_failed_mail: () => ({ text: "Send them again", href: "/dashboard/notifications" }),
  replay_failed_deliveries: () => ({ text: "Send them again", href: "/dashboard/notifications" }),
  restore_or_make_key_file: () => ({ text: "Bring the key file back, or make a first one: secrets rotate" }),
  rotate_leaked_key: () => ({
    text: "Use the publishable key in pages, then replace the secret one",
    href: "/dashboard/endpoints",
  }),
  schedule_backups: () => ({
    text: "Set backup.everyHours in the configuration and restart the server",
  }),
  set_clock: () => ({
    text: "Set the clock of the machine if it is wrong; if it is right, any change of settings ends this problem",
  }),
  set_clock_or_wait: () => ({
    text: "Set the clock of the machine if it is wrong; if it is right, because no server ran in between, there is nothing to do",
  }),
  set_clock_or_delete_submission: ({ submissionId }) => ({
    text: "Set the clock of the machine if it is wrong; if it is right, delete the submission that is ahead",
    href: `/dashboard/submissions/${submissionId}`,
  }),
  set_mail_server: () => ({
    text: "Set mail.host and mail.from in the configuration and restart the server, or delete the recipients",
    href: "/dashboard/notifications",
  }),
  undo_structure_change: () => ({ text: "Undo that change, or restore a sound backup at the command line" }),
  upgrade_database: () => ({ text: "Restart the server with this version" }),
  vouch_for_accounts: () => ({
    text: "Ask the holders of the addresses, then vouch for them",
    href: "/dashboard/system/accounts",
  }),
};

/** What to do about a finding. */
export function adviceView(advice: NonNullable<Finding["advice"]>): Html | null {
  const said: Advice | null = typeof advice === "string" ? { text: advice } : wordsFor(advice);
  if (said === null) return null;
  const { text, href } = said;
  const link = href === undefined ? html`${text}.` : html`<a href="${href}">${text}</a>`;
  return html`<br /><span class="muted">→ ${link}</span>`;
}

function wordsFor(hint: Hint): Advice | null {
  const words = WORDS[hint.kind] as ((hint: Hint) => Advice) | undefined;
  return words?.(hint) ?? null;
}
