/**
 * What can be done about an error or a finding. It is a fact, not a sentence: the command line turns it into a command, a page into a link;
 * an answer of the API contains it as it is, and an answer to a post leaves it out.
 */
export type Hint =
  | HintWith<PlainKind, unknown>
  | HintWith<"change_plan" | "configure_or_change_plan" | "upgrade_plan", { readonly workspaceId: string }>
  | HintWith<"set_clock_or_delete_submission", { readonly submissionId: string }>
  | HintWith<
      "allow_or_ignore_origin" | "choose_reply_field" | "set_challenge",
      { readonly endpointId: string }
    >
  | HintWith<"make_room_for_files", { readonly percent: "80" | "100" }>
  | HintWith<"look_at_webhook", { readonly webhookId: string }>
  | HintWith<"change_conditions" | "look_at_recipient", { readonly recipientId: string }>
  | HintWith<"name_foreign_file", { readonly what: "configuration" | "database"; readonly path: string }>
  | HintWith<
      "choose_free_port" | "choose_high_port" | "choose_known_host" | "choose_own_address",
      { readonly listener: Listener }
    >;

/** A part of the program that listens on an address. Each has a setting of its own. */
export type Listener = "dashboard" | "metrics" | "server" | "webhook_receiver";

/** One member of the union for each kind. */
type HintWith<Kind extends string, Facts> = Kind extends string ? { readonly kind: Kind } & Facts : never;

/** Hints that carry no value. */
type PlainKind =
  | "set_clock"
  | "set_clock_or_wait"
  | "choose_account"
  | "choose_endpoint"
  | "delete_with_workspaces"
  | "check_mail_server"
  | "choose_plan"
  | "enable_recipient_or_keep_id"
  | "encrypt_rest_of_secrets"
  | "export_as_ndjson"
  | "heed_or_restore"
  | "issue_key"
  | "list_accounts"
  | "list_deliveries"
  | "list_endpoints"
  | "list_keys"
  | "list_recipients"
  | "list_tokens"
  | "list_webhooks"
  | "list_workspaces"
  | "make_configuration"
  | "make_other_operator"
  | "make_room_for_held_posts"
  | "migrate_beside_servers"
  | "name_database"
  | "raise_form_share"
  | "release_later_or_change_plan"
  | "replace_damaged_database"
  | "replace_ending_tokens"
  | "replay_failed_deliveries"
  | "replay_failed_mail"
  | "restart_older_server"
  | "restore_or_make_key_file"
  | "rotate_leaked_key"
  | "schedule_backups"
  | "set_mail_server"
  | "stop_older_servers"
  | "stop_server"
  | "undo_structure_change"
  | "upgrade_database"
  | "vouch_for_accounts"
  | "wait_or_keep_id";
