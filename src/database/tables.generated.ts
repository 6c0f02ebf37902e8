// Made by scripts/embed-migrations.ts from the tables that migrations/*.sql make.
/* oxlint-disable max-lines */
import type { Generated } from "kysely";

/** Row types of every table. Times are milliseconds since 1970 UTC. */
export interface Tables {
  /** People who sign in, by e-mail address. An operator sees all workspaces. */
  account: {
    id: string;
    email: string;
    created_at: number;
    is_operator: Generated<number>;
    email_proved_at: number | null;
    is_doubtful: Generated<number>;
    /** The issuer whose group made it an operator; null if somebody did. */
    operator_by: string | null;
  };
  /** Groups of endpoints, each with the plan that limits it and one of its owners. */
  workspace: {
    id: string;
    /** One of its owners. */
    account_id: string;
    name: string;
    plan: string;
    created_at: number;
    time_zone: string | null;
    brand_colour: string | null;
    brand_name: string | null;
    brand_footer: string | null;
  };
  /** Who sees a workspace, and as what. A trigger makes the account of a new workspace its owner. */
  member: {
    workspace_id: string;
    account_id: string;
    role: "owner" | "editor" | "reader";
    /** JSON array of ids; null is all. */
    endpoints: string | null;
    may_export: number;
    sees_spam_details: number;
    since: number;
    by_account_id: string | null;
  };
  /** Who is asked to become a member, for 7 days. */
  invitation: {
    id: string;
    workspace_id: string;
    email: string;
    role: "owner" | "editor" | "reader";
    /** JSON array of ids; null is all. */
    endpoints: string | null;
    may_export: number;
    sees_spam_details: number;
    handed_hash: Buffer | null;
    mailed_hash: Buffer | null;
    created_at: number;
    by_account_id: string | null;
    by_operator: number;
  };
  /** Accepted submissions by workspace and UTC calendar month (YYYY-MM), which plan limits count. */
  usage: {
    workspace_id: string;
    /** `YYYY-MM`, UTC. */
    month: string;
    used: number;
  };
  /** One form: its settings. */
  endpoint: {
    id: string;
    workspace_id: string;
    name: string;
    state: "active" | "paused";
    schema_version: number;
    /** JSON array of origins. */
    allowed_origins: string;
    /** JSON array of names; null is the built-in list. */
    honeypots: string | null;
    success_url: string | null;
    error_url: string | null;
    created_at: number;
    /** Null keeps submissions for ever. */
    keep_days: number | null;
    store_address: "full" | "short" | "none";
    unknown_fields: "set-aside" | "drop" | "keep" | "reject";
    language: string | null;
    page: string | null;
    challenge: string | null;
    challenge_secret: Buffer | null;
    challenge_fault: string | null;
  };
  /** A small number for each endpoint, which its submissions refer to. A trigger adds it. */
  endpoint_number: {
    number: Generated<number>;
    endpoint_id: string;
  };
  /** Every version of an endpoint's schema. */
  endpoint_schema: {
    endpoint_id: string;
    version: number;
    /** JSON, as the owner wrote it. */
    definition: string;
    created_at: number;
  };
  /** Keys, as hashes. */
  api_key: {
    id: string;
    endpoint_id: string;
    kind: "secret" | "publishable";
    lookup: string;
    hash: string;
    created_at: number;
    revoked_at: number | null;
    seen_in_browser_at: number | null;
    /** 1 once that time was reached, whatever the clock says later. */
    is_revoked: Generated<number>;
    tag: Buffer | null;
  };
  /** Tokens of the HTTP API, as hashes. */
  api_token: {
    id: string;
    name: string;
    lookup: string;
    hash: Buffer;
    account_id: string | null;
    workspace_id: string | null;
    endpoint_id: string | null;
    scopes: string;
    created_at: number;
    expires_at: number | null;
    last_used_at: number | null;
    revoked_at: number | null;
  };
  /** Command lines that ask to be logged in, for ten minutes. */
  login_request: {
    device_hash: Buffer;
    user_code: string;
    client_name: string;
    scopes: string;
    client_address: string;
    state: "waiting" | "approved" | "denied";
    account_id: string | null;
    polled_at: number;
    created_at: number;
  };
  /** The first answer to an Idempotency-Key over the API, without secrets, for 24 h. Both hashes are SHA-256. */
  api_answer: {
    owner: string;
    operation: string;
    key_hash: Buffer;
    body_hash: Buffer;
    status: number;
    answer: string | null;
    created_at: number;
  };
  /** Accepted posts. seq is the order of commits, which `tail` follows; a deleted row's number is not used again. */
  submission: {
    seq: Generated<number>;
    id: string;
    endpoint_number: number;
    schema_version: number;
    /** JSON object. */
    data: string;
    spam_score: number;
    /** JSON array of `{signal, points, field, detail}`. */
    spam_reasons: string;
    ip_address: string;
    user_agent: string;
    created_at: number;
    /** The notification is head, the data and tail. If tail is null, it is head alone; if head is null, there is none. */
    event_head: string | null;
    event_tail: string | null;
    /** The version of the filter that gave the score. */
    spam_version: number;
    /** JSON object of what was sent beyond the schema, by path; null if nothing was set aside. */
    unknown_fields: string | null;
    /** How many such values had no room. */
    unknown_fields_dropped: number | null;
    /** The service whose export it came from; null is a post. */
    imported_from: string | null;
    /** JSON array of who got nothing because of a condition; null for nobody. */
    not_sent: string | null;
  };
  /** Rows of other services' exports that were imported, as hashes. They outlive their submissions. */
  imported_row: {
    endpoint_id: string;
    row_hash: string;
  };
  /** The first 200 answer of an Idempotency-Key, for 24 h, by kind of API key. Both hashes are SHA-256. */
  idempotency: {
    endpoint_id: string;
    kind: "secret" | "publishable";
    key_hash: Buffer;
    body_hash: Buffer;
    submission_id: string;
    created_at: number;
  };
  /** Posts that were refused as spam or for the month's limit and can be released. */
  held: {
    id: string;
    workspace_id: string;
    endpoint_id: string;
    why: "spam" | "limit" | "origin";
    trapped: number;
    /** SHA-256 over the hashes of the Idempotency-Key and the body, and the kind of key; without the last in rows of earlier versions. */
    key_hash: Buffer | null;
    schema_version: number;
    /** JSON object. */
    data: string;
    spam_score: number;
    /** JSON array of `{signal, points, field, detail}`. */
    spam_reasons: string;
    /** The version of the filter that gave the score. */
    spam_version: number;
    ip_address: string;
    user_agent: string;
    created_at: number;
    /** A hash of the submitter's network; the address itself in rows of earlier versions. */
    network: string;
    /** Of the page, if the post is held for it. */
    origin: string | null;
    /** Of its texts. */
    bytes: number;
    /** JSON object of what was sent beyond the schema, by path; null if nothing was set aside. */
    unknown_fields: string | null;
    /** How many such values had no room. */
    unknown_fields_dropped: number | null;
  };
  /** How many held posts a network has in a workspace, and which of them is deleted first. Triggers count. */
  held_network: {
    workspace_id: string;
    network: string;
    posts: number;
    /** The post of this network that is deleted first. */
    first_trapped: number;
    first_id: string;
  };
  /** How many posts a workspace holds, counted by triggers, and how many were deleted for lack of room. */
  held_total: {
    workspace_id: string;
    posts: number;
    /** Posts that were deleted because there were too many, since the beginning. */
    evicted: number;
    evicted_at: number | null;
    /** Of the texts of its posts. */
    bytes: number;
  };
  /** Files of submissions and held posts. One that belongs to neither any more is deleted by a clean-up. */
  file: {
    id: string;
    endpoint_id: string;
    submission_id: string | null;
    held_id: string | null;
    /** `storing` until its submission is stored: some chunks may be missing. */
    state: "storing" | "stored";
    name: string;
    /** In bytes. */
    size: number;
    /** The media type that its content has. */
    type: string;
    /** Hexadecimal. */
    sha256: string;
    created_at: number;
    /** 1 if its post is held. */
    for_held: Generated<number>;
    /** 1 if this database is a backup that was made without the bytes of files. */
    is_left_out: Generated<number>;
    /** Of its bytes in the S3-compatible store; null if they are in file_chunk. */
    object_id: string | null;
  };
  /** The bytes of files, 262144 a row; the last row of a file has the rest. */
  file_chunk: {
    file_id: string;
    /** From 0 on. */
    position: number;
    bytes: Buffer;
  };
  /** Objects of the store of files whose file is gone, written by triggers, until the store has deleted them. */
  file_deletion: {
    object_id: string;
    lost_at: number;
    /** 0 if its post was cut off: the store may still be receiving it. */
    was_stored: number;
    attempts: Generated<number>;
    /** When it is tried next. */
    next_at: Generated<number>;
  };
  /** How many files an endpoint has, and their bytes, counted by triggers. */
  file_total: {
    endpoint_id: string;
    files: number;
    bytes: number;
  };
  /** Files that a virus scanner has not judged. */
  file_scan: {
    file_id: string;
    /** Nobody may read a file that is `scanning`. It could not be scanned in time if it is `kept`, which may be read, or `refused`. */
    state: "scanning" | "kept" | "refused";
    /** Until then it is `scanning`. */
    wait_until: number;
    /** Scans that ended without a verdict, for a reason that may lie in the file. */
    attempts: Generated<number>;
    /** When it is to be scanned; whoever scans it moves it ahead meanwhile. Null is never. */
    due_at: number | null;
  };
  /** Submissions whose messages wait until their files are judged, or until a time. */
  scan_wait: {
    submission_id: string;
    until: number;
    recipients: string | null;
  };
  /** Bytes of files that came in a UTC day, by address (its hash) and by form. */
  upload_use: {
    /** `YYYY-MM-DD`, UTC. */
    day: string;
    /** `address` and a hash, or `form` and an id. Without bytes: `full` and what was full, `told` and what an owner was told. */
    unit: string;
    bytes: number;
  };
  /** Proofs of work that posts brought, until they would be late; each counts once. */
  spent_proof: {
    id: Buffer;
    used_by: string;
    expires_at: number;
  };
  /** One row. Raised by every change to what servers hold in memory. */
  settings_version: {
    id: number;
    version: number;
  };
  /** One row. The last address that seems to be a proxy which `server.trustProxy` does not name. */
  untrusted_proxy: {
    id: number;
    address: string;
    seen_at: number;
  };
  /** What a page with a form does wrong, as its posts show: the last time of each kind. */
  page_fault: {
    endpoint_id: string;
    kind: "redirect" | "file_name";
    /** An origin, empty if it was no address of the web; or the field that should have had a file. */
    what: string;
    seen_at: number;
  };
  /** Problems that the operator was told of by e-mail and that had not ended: a restart tells none of them again. */
  told_problem: {
    topic: string;
    told_to: string;
    /** JSON */
    finding: string;
  };
  /** Recipients of an endpoint's notifications, for any transport, each with its state. */
  recipient: {
    id: string;
    endpoint_id: string;
    max_spam_score: number;
    state: "enabled" | "disabled" | "stopped";
    breaker: "closed" | "open" | "ramping";
    breaker_count: number;
    not_before: number;
    gone_at: number | null;
    failing_since: number | null;
    created_at: number;
    kind: string;
    confirmed_at: number | null;
    refusals: Generated<number>;
    /** JSON array; null is every submission. */
    conditions: string | null;
  };
  /** Address and settings of a recipient that is reached over HTTP. */
  webhook: {
    id: string;
    url: string;
    /** JSON object of strings. */
    headers: string;
    allow_private: number;
    format: Generated<string>;
    secret_url: Buffer | null;
  };
  /** Keys that sign notifications. After a rotation the old one expires. */
  webhook_secret: {
    webhook_id: string;
    key: Buffer;
    created_at: number;
    expires_at: number | null;
  };
  /** Address and settings of a recipient that is reached by e-mail. */
  mail_recipient: {
    id: string;
    address: string;
    subject: string | null;
    digest: "each" | "hourly" | "daily";
    confirmation_hash: Buffer | null;
    confirmation_expires_at: number | null;
    unsubscribe_token: string;
    unsubscribed_at: number | null;
    language: string | null;
    attach: Generated<number>;
  };
  /** Letters of the server that must not be lost. None holds the token of a link: that of a confirmation is made when its turn has come. */
  letter: {
    id: string;
    kind: "security" | "operator" | "confirmation";
    topic: string;
    address: string;
    recipient_id: string | null;
    /** JSON of subject, paragraphs and link. */
    content: string;
    state: "pending" | "delivered" | "failed";
    attempts: Generated<number>;
    spent: Generated<number>;
    due_at: number;
    claimed_by: string | null;
    /** JSON of the last attempt that ended. */
    last_attempt: string | null;
    finished_at: number | null;
  };
  /** The automatic reply of an endpoint: an e-mail to whoever posts, with the owner's text. */
  auto_reply: {
    id: string;
    field: string;
    subject: string | null;
    text: string | null;
    reply_to: string | null;
    begun_at: number | null;
    sent_at: number | null;
  };
  /** In which language whoever posted gets the automatic reply, if the post said it. */
  reply_language: {
    submission_id: string;
    language: string;
  };
  /** What was counted against limits of messages: a row for each message and limit, until it counts no more. */
  quota_use: {
    key: Buffer;
    expires_at: number;
    submission_id: string;
  };
  /** How much a recipient got lately, if its transport limits that. A recipient that got nothing yet has no row. */
  recipient_pace: {
    recipient_id: string;
    window_at: number;
    window_sent: number;
    hour_at: number;
    hour_sent: number;
    gathers_until: number | null;
  };
  /** Places that fail at present, like a mail server: all recipients there wait. For people; the server starts without any. */
  place_fault: {
    kind: string;
    place: string;
    since: number;
    message: string;
    next_probe_at: number;
  };
  /** Messages that are not claimed yet; one row has those of one transaction to one recipient. */
  outbox: {
    number: Generated<number>;
    recipient_id: string;
    queued_at: number;
    message_count: number;
    /** JSON array of `[message id, submission id]`. */
    messages: string;
  };
  /** One message to one recipient: its state and when its next attempt is due. */
  delivery: {
    id: string;
    submission_id: string;
    recipient_id: string;
    state: "pending" | "sending" | "delivered" | "held" | "failed";
    attempts: Generated<number>;
    spent: Generated<number>;
    interruptions: Generated<number>;
    due_at: number;
    claimed_at: number | null;
    is_probe: Generated<number>;
    finished_at: number | null;
    last_status: number | null;
    lead_id: string | null;
    event: string | null;
  };
  /** Every attempt of a delivery. */
  attempt: {
    delivery_id: string;
    number: number;
    started_at: number;
    duration_ms: number;
    outcome: string;
    status: number | null;
    message: string | null;
    answer: string | null;
    is_probe: number;
  };
  /** Which owners were told in which month that their workspace comes near its monthly limit, has reached it, and holds a first post for it. */
  limit_notice: {
    workspace_id: string;
    /** `YYYY-MM`, UTC. */
    month: string;
    what: "near" | "full" | "held" | "files_near" | "files_full";
    told_at: number;
  };
  /** What an e-mail about submissions is made of besides them, from before its first attempt on: each attempt sends the same bytes. */
  mail_frame: {
    delivery_id: string;
    /** JSON. */
    frame: string;
  };
  /** A workspace's choices for the spam filter. */
  workspace_spam: {
    workspace_id: string;
    /** JSON object. */
    choices: string;
  };
  /** An endpoint's choices for the spam filter. */
  endpoint_spam: {
    endpoint_id: string;
    /** JSON object. */
    choices: string;
  };
  /** Pages whose posts an endpoint refused, because their origin is not among its allowed ones. */
  refused_origin: {
    endpoint_id: string;
    origin: string;
    posts: number;
    last_at: number;
    ignored: Generated<number>;
  };
  /** Sketches of the last texts that a workspace received, to recognise repeated ones. */
  remembered_text: {
    id: Generated<number>;
    workspace_id: string;
    /** JSON array of integers. */
    keys: string;
    sketch: Buffer;
    /** JSON array of `[email, network]` hashes. */
    senders: string;
    marked_spam: Generated<number>;
    marked_ham: Generated<number>;
  };
  /** Keys by which remembered texts are found. */
  remembered_text_key: {
    key: number;
    text_id: number;
  };
  /** Submissions that somebody marked as spam or not, as the features that the filter learns from. */
  lesson: {
    id: Generated<number>;
    workspace_id: string;
    submission_id: string;
    mark: "spam" | "ham";
    email: string | null;
    text_id: number | null;
    buckets: Buffer;
    /** In thousandths. */
    odds: number;
    created_at: number;
  };
  /** The weights that a workspace's filter has learned from its lessons. */
  learned_weights: {
    workspace_id: string;
    version: number;
    weights: Buffer;
  };
  /** How an account signs in. One that never did has no row. */
  credential: {
    account_id: string;
    password_hash: string;
    /** Sealed or plain. */
    totp_secret: Buffer | null;
    totp_step: number | null;
    changed_at: number;
  };
  /** Codes that stand in for the second factor, each for one sign-in. */
  recovery_code: {
    account_id: string;
    hash: Buffer;
  };
  /** Passkeys (WebAuthn): what somebody's device signs in with. */
  passkey: {
    id: string;
    account_id: string;
    credential_id: Buffer;
    host: string;
    /** COSE. */
    public_key: Buffer;
    /** How often the device says that it was used; 0 if it does not count. */
    counter: number;
    name: string;
    created_at: number;
    used_at: number | null;
  };
  /** Challenges that a passkey has answered, until they are too old to be answered again. */
  spent_challenge: {
    hash: Buffer;
    expires_at: number;
  };
  /** Links that set an account's password, each for one use. */
  sign_in_link: {
    account_id: string;
    token_hash: Buffer;
    expires_at: number;
  };
  /** Links in letters, each for one use, that make an account or set a forgotten password. */
  mailed_link: {
    token_hash: Buffer;
    purpose: "sign-up" | "reset";
    email: string;
    created_at: number;
  };
  /** Browsers that are signed in. */
  session: {
    id: string;
    account_id: string;
    secret_hash: Buffer;
    created_at: number;
    seen_at: number;
    user_agent: string;
    ip_address: string | null;
    /** The OpenID issuer by which it began; null if it began here. */
    issuer: string | null;
  };
  /** Which subject of an OpenID issuer an account is. */
  oidc_binding: {
    issuer: string;
    subject: string;
    account_id: string;
    bound_at: number;
  };
  /** One row. The key that signs the addresses of files. */
  file_link_key: {
    id: number;
    /** Sealed or plain. */
    key: Buffer;
  };
  /** One row. The key of what tells that a browser or an address signed in before. */
  sign_in_key: {
    id: number;
    /** Sealed or plain. */
    key: Buffer;
  };
  /** Addresses, as keyed hashes, from which an account was used in the last 30 days. */
  known_address: {
    account_id: string;
    address_hash: Buffer;
    seen_at: number;
  };
  /** Who has read which submission. An unread one has no row. */
  submission_read: {
    submission_id: string;
    account_id: string;
  };
  /** What people do about a submission: whether it is done, and whose it is. One that is open and nobody's needs no row. */
  submission_work: {
    id: string;
    endpoint_number: number;
    state: "open" | "done";
    assignee_id: string | null;
  };
  /** Submissions that were deleted and can be brought back. Each is still in `submission`. */
  submission_bin: {
    id: string;
    endpoint_number: number;
    deleted_at: number;
  };
  /** What people noted about a submission. */
  submission_note: {
    id: string;
    submission_id: string;
    text: string;
    /** The address of the account, or the name of the token, at that time; null is the command line. */
    author: string | null;
    created_at: number;
  };
  /** Who changed what. The oldest rows are deleted. */
  audit_event: {
    id: Generated<number>;
    at: number;
    account_id: string | null;
    email: string | null;
    workspace_id: string | null;
    action: string;
    subject: string;
    detail: string | null;
    token_id: string | null;
    token_name: string | null;
    terminal_user: string | null;
    stored_after: Generated<number>;
  };
}
