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
    /** The issuer whose group made the account an operator; null if a person did. */
    operator_by: string | null;
  };
  /** Groups of endpoints, each with the plan that limits it and one of its owners. */
  workspace: {
    id: string;
    /** One of the workspace's owners. */
    account_id: string;
    name: string;
    plan: string;
    created_at: number;
    time_zone: string | null;
    brand_colour: string | null;
    brand_name: string | null;
    brand_footer: string | null;
  };
  /** The accounts that see a workspace, each with its role. A trigger makes the account of a new workspace its owner. */
  member: {
    workspace_id: string;
    account_id: string;
    role: "owner" | "editor" | "reader";
    /** JSON array of ids; null means all. */
    endpoints: string | null;
    may_export: number;
    sees_spam_details: number;
    since: number;
    by_account_id: string | null;
  };
  /** Invitations to become a member, each valid for 7 days. */
  invitation: {
    id: string;
    workspace_id: string;
    email: string;
    role: "owner" | "editor" | "reader";
    /** JSON array of ids; null means all. */
    endpoints: string | null;
    may_export: number;
    sees_spam_details: number;
    handed_hash: Buffer | null;
    mailed_hash: Buffer | null;
    created_at: number;
    by_account_id: string | null;
    by_operator: number;
  };
  /** The number of accepted submissions by workspace and UTC calendar month (YYYY-MM), which plan limits count. */
  usage: {
    workspace_id: string;
    /** `YYYY-MM`, UTC. */
    month: string;
    used: number;
  };
  /** The settings of one form. */
  endpoint: {
    id: string;
    workspace_id: string;
    name: string;
    state: "active" | "paused";
    schema_version: number;
    /** JSON array of origins. */
    allowed_origins: string;
    /** JSON array of names; null means the built-in list. */
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
    /** Null means that the page is off; else the first of a name is found under it. */
    page_place: number | null;
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
  /** Keys of endpoints, as hashes. */
  api_key: {
    id: string;
    endpoint_id: string;
    kind: "secret" | "publishable";
    lookup: string;
    hash: string;
    created_at: number;
    revoked_at: number | null;
    seen_in_browser_at: number | null;
    /** 1 after the time of revocation was reached, whatever the clock says later. */
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
  /** Command lines that ask to be logged in, each for ten minutes. */
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
  /** The first answer to an Idempotency-Key over the API, without secrets. It is kept for 24 h. Both hashes are SHA-256. */
  api_answer: {
    owner: string;
    operation: string;
    key_hash: Buffer;
    body_hash: Buffer;
    status: number;
    answer: string | null;
    created_at: number;
  };
  /** Accepted posts. seq is the order of commits, which `tail` follows; the number of a deleted row is not used again. */
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
    /** The notification is head, data and tail. If tail is null, it is head alone; if head is null, there is no notification. */
    event_head: string | null;
    event_tail: string | null;
    /** The version of the filter that gave the score. */
    spam_version: number;
    /** JSON object of the posted values that the schema does not name, by path; null if nothing was set aside. */
    unknown_fields: string | null;
    /** The number of such values that had no room. */
    unknown_fields_dropped: number | null;
    /** The service whose export contained the submission; null for a post. */
    imported_from: string | null;
    /** JSON array of the recipients that got nothing because of a condition; null if there are none. */
    not_sent: string | null;
  };
  /** Rows from exports of other services that were imported, as hashes. They stay after their submissions are deleted. */
  imported_row: {
    endpoint_id: string;
    row_hash: string;
  };
  /** The first 200 answer to an Idempotency-Key, by kind of API key. It is kept for 24 h. Both hashes are SHA-256. */
  idempotency: {
    endpoint_id: string;
    kind: "secret" | "publishable";
    key_hash: Buffer;
    body_hash: Buffer;
    submission_id: string;
    created_at: number;
  };
  /** Posts that were refused as spam or because of the monthly limit, and that can be released. */
  held: {
    id: string;
    workspace_id: string;
    endpoint_id: string;
    why: "spam" | "limit" | "origin";
    trapped: number;
    /** SHA-256 of the hashes of the Idempotency-Key and the body, and of the kind of key. Old rows lack the kind. */
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
    /** The origin of the page, if the post is held because of it. */
    origin: string | null;
    /** The size of the post's texts in bytes. */
    bytes: number;
    /** JSON object of the posted values that the schema does not name, by path; null if nothing was set aside. */
    unknown_fields: string | null;
    /** The number of such values that had no room. */
    unknown_fields_dropped: number | null;
    /** The kind of key that the post was sent with, if it has an Idempotency-Key. */
    sent_kind: "secret" | "publishable" | null;
    /** SHA-256 of the Idempotency-Key. */
    sent_key_hash: Buffer | null;
    /** SHA-256 of the body, if the post has an Idempotency-Key. */
    sent_body_hash: Buffer | null;
  };
  /** The number of held posts that a network has in a workspace, and the one that is deleted first. Triggers count. */
  held_network: {
    workspace_id: string;
    network: string;
    posts: number;
    /** The post of this network that is deleted first. */
    first_trapped: number;
    first_id: string;
  };
  /** The number of posts that a workspace holds, and the number of those deleted because there was no room. Triggers count. */
  held_total: {
    workspace_id: string;
    posts: number;
    /** The number of posts that were ever deleted because there were too many. */
    evicted: number;
    evicted_at: number | null;
    /** The size of the posts' texts in bytes. */
    bytes: number;
  };
  /** Files of submissions and held posts. A clean-up deletes a file that no longer belongs to either. */
  file: {
    id: string;
    endpoint_id: string;
    submission_id: string | null;
    held_id: string | null;
    /** `storing` until its submission is stored; some chunks may be missing until then. */
    state: "storing" | "stored";
    name: string;
    /** The size in bytes. */
    size: number;
    /** The media type of its content. */
    type: string;
    /** Hexadecimal. */
    sha256: string;
    created_at: number;
    /** 1 if the file's post is held. */
    for_held: Generated<number>;
    /** 1 if this database is a backup that was made without the bytes of files. */
    is_left_out: Generated<number>;
    /** The id of the object with its bytes in the S3-compatible store; null if the bytes are in file_chunk. */
    object_id: string | null;
  };
  /** The bytes of files. Each row has 262144 bytes; the last row of a file has the rest. */
  file_chunk: {
    file_id: string;
    /** The number of the chunk, from 0. */
    position: number;
    bytes: Buffer;
  };
  /** Objects in the store of files whose file is gone. Triggers write them; they stay until the store has deleted the object. */
  file_deletion: {
    object_id: string;
    lost_at: number;
    /** 0 if the post was cut off, so that the store may still be receiving the object. */
    was_stored: number;
    attempts: Generated<number>;
    /** The time of the next attempt. */
    next_at: Generated<number>;
  };
  /** The number and the bytes of the files of an endpoint. Triggers count. */
  file_total: {
    endpoint_id: string;
    files: number;
    bytes: number;
  };
  /** Files for which a virus scanner has given no verdict. */
  file_scan: {
    file_id: string;
    /** Nobody may read a `scanning` file. If it could not be scanned in time, it is `kept`, which may be read, or `refused`. */
    state: "scanning" | "kept" | "refused";
    /** The time until which the file stays `scanning`. */
    wait_until: number;
    /** The number of scans that ended without a verdict, for a reason that may lie in the file. */
    attempts: Generated<number>;
    /** The time of the next scan. A server that scans the file moves the time ahead meanwhile. Null means never. */
    due_at: number | null;
  };
  /** Submissions whose messages wait until their files have a verdict, or until a certain time. */
  scan_wait: {
    submission_id: string;
    until: number;
    recipients: string | null;
  };
  /** The bytes of files that came in a UTC day, by address (as a hash) and by form. */
  upload_use: {
    /** `YYYY-MM-DD`, UTC. */
    day: string;
    /** `address` and a hash, or `form` and an id. Without bytes: `full` and a used-up limit, `told` and what an owner was told. */
    unit: string;
    bytes: number;
  };
  /** Proofs of work that came with posts, because each is valid once. A row is kept until its proof has expired. */
  spent_proof: {
    id: Buffer;
    used_by: string;
    expires_at: number;
  };
  /** One row. Every change to what servers hold in memory raises its number. */
  settings_version: {
    id: number;
    version: number;
  };
  /** What the last thousand changes of settings were about, so that servers drop only that from their memory. */
  settings_change: {
    slot: Generated<number>;
    version: number;
    subject: string;
  };
  /** One row. The clock as the clean-ups saw it last, which do not follow one that went far ahead. */
  clock_seen: {
    id: Generated<number>;
    seen_at: number;
    doubted_at: number | null;
    waited_ms: number;
  };
  /** One row. The last address that seems to be a proxy but is not in `server.trustProxy`. */
  untrusted_proxy: {
    id: number;
    address: string;
    seen_at: number;
  };
  /** Faults of pages with a form, which their posts show. A row has the last time of one kind of fault. */
  page_fault: {
    endpoint_id: string;
    kind: "redirect" | "file_name";
    /** An origin, which is empty if it was not a web address; or the field that should have contained a file. */
    what: string;
    seen_at: number;
  };
  /** Unsolved problems about which the operator got an e-mail. After a restart, no second e-mail is sent about them. */
  told_problem: {
    topic: string;
    told_to: string;
    /** JSON. */
    finding: string;
  };
  /** Recipients of an endpoint's notifications, of every kind, each with its state. */
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
    /** JSON array; null means every submission. */
    conditions: string | null;
  };
  /** The address and settings of a recipient that is reached over HTTP. */
  webhook: {
    id: string;
    url: string;
    /** JSON object of strings. */
    headers: string;
    allow_private: number;
    format: Generated<string>;
    secret_url: Buffer | null;
  };
  /** Keys that sign notifications. After a rotation, the old key expires. */
  webhook_secret: {
    webhook_id: string;
    key: Buffer;
    created_at: number;
    expires_at: number | null;
  };
  /** The address and settings of a recipient that is reached by e-mail. */
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
  /** Letters of the server that must not be lost. None contains the token of a link: a confirmation gets it when it is sent. */
  letter: {
    id: string;
    kind: "security" | "operator" | "confirmation";
    topic: string;
    address: string;
    recipient_id: string | null;
    /** JSON of the subject, the paragraphs and the link. */
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
  /** The automatic reply of an endpoint: an e-mail with the owner's text to the person who posts. */
  auto_reply: {
    id: string;
    field: string;
    subject: string | null;
    text: string | null;
    reply_to: string | null;
    begun_at: number | null;
    sent_at: number | null;
  };
  /** The language of the automatic reply to a post, if the post named one. */
  reply_language: {
    submission_id: string;
    language: string;
  };
  /** The use of limits of messages: a row for each message and limit, until it no longer counts. */
  quota_use: {
    key: Buffer;
    expires_at: number;
    submission_id: string;
  };
  /** The number of messages that a recipient got lately, if its kind has such a limit. A recipient that got nothing yet has no row. */
  recipient_pace: {
    recipient_id: string;
    window_at: number;
    window_sent: number;
    hour_at: number;
    hour_sent: number;
    gathers_until: number | null;
  };
  /** Places that fail at present, like a mail server: all their recipients wait. People read these rows; a new server ignores them. */
  place_fault: {
    kind: string;
    place: string;
    since: number;
    message: string;
    next_probe_at: number;
  };
  /** Messages that are not claimed yet. A row has the messages of one transaction to one recipient. */
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
  /** Notices to owners in a month: their workspace is near its limit of posts or files, has reached it, or holds a first post. */
  limit_notice: {
    workspace_id: string;
    /** `YYYY-MM`, UTC. */
    month: string;
    what: "near" | "full" | "held" | "files_near" | "files_full";
    told_at: number;
  };
  /** The parts of an e-mail about submissions besides these, from before its first attempt: each attempt sends the same bytes. */
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
  /** The origins of pages whose posts an endpoint refused, because they are not among its allowed origins. */
  refused_origin: {
    endpoint_id: string;
    origin: string;
    posts: number;
    last_at: number;
    ignored: Generated<number>;
  };
  /** Sketches of the last texts that a workspace received, with which repeated texts are recognised. */
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
  /** Submissions that a person marked as spam or not, as the features from which the filter learns. */
  lesson: {
    id: Generated<number>;
    workspace_id: string;
    submission_id: string;
    mark: "spam" | "ham";
    email: string | null;
    text_id: number | null;
    buckets: Buffer;
    /** The log-odds of the text model, in thousandths. */
    odds: number;
    created_at: number;
  };
  /** The weights that a workspace's filter has learned from its lessons. */
  learned_weights: {
    workspace_id: string;
    version: number;
    weights: Buffer;
  };
  /** How an account signs in. An account that never signed in has no row. */
  credential: {
    account_id: string;
    password_hash: string;
    /** Sealed or plain. */
    totp_secret: Buffer | null;
    totp_step: number | null;
    changed_at: number;
  };
  /** Codes that replace the second factor, each for one sign-in. */
  recovery_code: {
    account_id: string;
    hash: Buffer;
  };
  /** Passkeys (WebAuthn), with which a person's device signs in. */
  passkey: {
    id: string;
    account_id: string;
    credential_id: Buffer;
    host: string;
    /** In the format of COSE. */
    public_key: Buffer;
    /** The number of uses that the device states; 0 if it does not count. */
    counter: number;
    name: string;
    created_at: number;
    used_at: number | null;
  };
  /** Challenges that a passkey has answered. A row is kept until its challenge is too old to be answered again. */
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
  /** Links in letters, each for one use: they make an account or set a new password. */
  mailed_link: {
    token_hash: Buffer;
    purpose: "sign-up" | "reset";
    email: string;
    created_at: number;
  };
  /** Sessions of browsers that are signed in. */
  session: {
    id: string;
    account_id: string;
    secret_hash: Buffer;
    created_at: number;
    seen_at: number;
    user_agent: string;
    ip_address: string | null;
    /** The OpenID issuer with which the session began; null if it began without one. */
    issuer: string | null;
  };
  /** The account to which a subject of an OpenID issuer belongs. */
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
  /** One row. The key for the proof that a browser or an address has signed in before. */
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
  /** The members who have read a submission. An unread submission has no row. */
  submission_read: {
    submission_id: string;
    account_id: string;
  };
  /** The work on a submission: whether it is done, and who does it. One that is open and assigned to nobody needs no row. */
  submission_work: {
    id: string;
    endpoint_number: number;
    state: "open" | "done";
    assignee_id: string | null;
  };
  /** Submissions that were deleted and can be restored. Each is still in `submission`. */
  submission_bin: {
    id: string;
    endpoint_number: number;
    deleted_at: number;
  };
  /** Notes of people on a submission. */
  submission_note: {
    id: string;
    submission_id: string;
    text: string;
    /** The address of the account, or the name of the token, when the note was written; null for the command line. */
    author: string | null;
    created_at: number;
  };
  /** The changes, and who made them. The oldest rows are deleted. */
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
