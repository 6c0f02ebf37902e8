/**
 * What can be done about an error or a finding. It is a fact, not a sentence: the command line names a command, a page
 * shows a link, and an answer over HTTP says nothing of it.
 */
export type Hint =
  | HintWith<PlainKind, unknown>
  | HintWith<"change_plan" | "configure_or_change_plan" | "upgrade_plan", { readonly workspaceId: string }>
  | HintWith<"set_clock_or_delete_submission", { readonly submissionId: string }>
  | HintWith<"look_at_webhook", { readonly webhookId: string }>;

/** One member of the union for each kind. */
type HintWith<Kind extends string, Facts> = Kind extends string ? { readonly kind: Kind } & Facts : never;

/** Hints that carry no value. */
type PlainKind =
  | "choose_account"
  | "choose_endpoint"
  | "choose_plan"
  | "encrypt_rest_of_secrets"
  | "issue_key"
  | "list_accounts"
  | "list_deliveries"
  | "list_endpoints"
  | "list_keys"
  | "list_webhooks"
  | "list_workspaces"
  | "make_configuration"
  | "make_room_for_held_posts"
  | "release_later_or_change_plan"
  | "replace_damaged_database"
  | "replay_failed_deliveries"
  | "restore_or_make_key_file"
  | "rotate_leaked_key"
  | "schedule_backups"
  | "undo_structure_change"
  | "upgrade_database";
