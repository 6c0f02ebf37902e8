import type Driver from "better-sqlite3";

/** Facts that a reader cannot see in a column's name and type. */
const NOTES: Readonly<Record<string, string>> = {
  "workspace.account_id": "One of the workspace's owners.",
  "member.endpoints": "JSON array of ids; null means all.",
  "invitation.endpoints": "JSON array of ids; null means all.",
  "usage.month": "`YYYY-MM`, UTC.",
  "endpoint.allowed_origins": "JSON array of origins.",
  "endpoint.honeypots": "JSON array of names; null means the built-in list.",
  "endpoint.page_place": "Null means that the page is off; else the first of a name is found under it.",
  "endpoint.keep_days": "Null keeps submissions for ever.",
  "endpoint_schema.definition": "JSON, as the owner wrote it.",
  "api_key.is_revoked": "1 after the time of revocation was reached, whatever the clock says later.",
  "submission.data": "JSON object.",
  "held.data": "JSON object.",
  "submission.spam_reasons": "JSON array of `{signal, points, field, detail}`.",
  "held.spam_reasons": "JSON array of `{signal, points, field, detail}`.",
  "submission.spam_version": "The version of the filter that gave the score.",
  "held.spam_version": "The version of the filter that gave the score.",
  "submission.unknown_fields":
    "JSON object of the posted values that the schema does not name, by path; null if nothing was set aside.",
  "held.unknown_fields":
    "JSON object of the posted values that the schema does not name, by path; null if nothing was set aside.",
  "submission_note.author":
    "The address of the account, or the name of the token, when the note was written; null for the command line.",
  "submission.unknown_fields_dropped": "The number of such values that had no room.",
  "held.unknown_fields_dropped": "The number of such values that had no room.",
  "submission.event_head":
    "The notification is head, data and tail. If tail is null, it is head alone; if head is null, there is no notification.",
  "submission.imported_from": "The service whose export contained the submission; null for a post.",
  "submission.not_sent":
    "JSON array of the recipients that got nothing because of a condition; null if there are none.",
  "recipient.conditions": "JSON array; null means every submission.",
  "page_fault.what":
    "An origin, which is empty if it was not a web address; or the field that should have contained a file.",
  "told_problem.finding": "JSON.",
  "webhook.headers": "JSON object of strings.",
  "outbox.messages": "JSON array of `[message id, submission id]`.",
  "workspace_spam.choices": "JSON object.",
  "endpoint_spam.choices": "JSON object.",
  "remembered_text.keys": "JSON array of integers.",
  "remembered_text.senders": "JSON array of `[email, network]` hashes.",
  "lesson.odds": "The log-odds of the text model, in thousandths.",
  "held.network": "A hash of the submitter's network; the address itself in rows of earlier versions.",
  "held.key_hash":
    "SHA-256 of the hashes of the Idempotency-Key and the body, and of the kind of key. Old rows lack the kind.",
  "held.sent_kind": "The kind of key that the post was sent with, if it has an Idempotency-Key.",
  "held.sent_key_hash": "SHA-256 of the Idempotency-Key.",
  "held.sent_body_hash": "SHA-256 of the body, if the post has an Idempotency-Key.",
  "held.origin": "The origin of the page, if the post is held because of it.",
  "held.bytes": "The size of the post's texts in bytes.",
  "held_network.first_trapped": "The post of this network that is deleted first.",
  "held_total.bytes": "The size of the posts' texts in bytes.",
  "held_total.evicted": "The number of posts that were ever deleted because there were too many.",
  "file.state": "`storing` until its submission is stored; some chunks may be missing until then.",
  "file.for_held": "1 if the file's post is held.",
  "file.is_left_out": "1 if this database is a backup that was made without the bytes of files.",
  "file.size": "The size in bytes.",
  "file.type": "The media type of its content.",
  "file.sha256": "Hexadecimal.",
  "file_scan.state":
    "Nobody may read a `scanning` file. If it could not be scanned in time, it is `kept`, which may be read, or `refused`.",
  "file_scan.wait_until": "The time until which the file stays `scanning`.",
  "file_scan.attempts":
    "The number of scans that ended without a verdict, for a reason that may lie in the file.",
  "file_scan.due_at":
    "The time of the next scan. A server that scans the file moves the time ahead meanwhile. Null means never.",
  "upload_use.day": "`YYYY-MM-DD`, UTC.",
  "upload_use.unit":
    "`address` and a hash, or `form` and an id. Without bytes: `full` and a used-up limit, `told` and what an owner was told.",
  "file_chunk.position": "The number of the chunk, from 0.",
  "file.object_id":
    "The id of the object with its bytes in the S3-compatible store; null if the bytes are in file_chunk.",
  "file_deletion.was_stored":
    "0 if the post was cut off, so that the store may still be receiving the object.",
  "file_deletion.next_at": "The time of the next attempt.",
  "credential.totp_secret": "Sealed or plain.",
  "sign_in_key.key": "Sealed or plain.",
  "passkey.public_key": "In the format of COSE.",
  "passkey.counter": "The number of uses that the device states; 0 if it does not count.",
  "account.operator_by": "The issuer whose group made the account an operator; null if a person did.",
  "session.issuer": "The OpenID issuer with which the session began; null if it began without one.",
  "file_link_key.key": "Sealed or plain.",
  "mail_frame.frame": "JSON.",
  "limit_notice.month": "`YYYY-MM`, UTC.",
  "letter.content": "JSON of the subject, the paragraphs and the link.",
  "letter.last_attempt": "JSON of the last attempt that ended.",
};

/** Columns that have a default only for the rows of earlier versions. A new row must name them. */
const GIVEN: ReadonlySet<string> = new Set([
  "endpoint.store_address",
  "endpoint.unknown_fields",
  "recipient.kind",
  "submission.spam_version",
  "held.spam_version",
  "held.network",
  "held.bytes",
  "held_total.bytes",
  "held_total.evicted",
  "settings_version.id",
  "untrusted_proxy.id",
  "sign_in_key.id",
  "file_link_key.id",
]);

const TYPES: Readonly<Record<string, string>> = { TEXT: "string", INTEGER: "number", BLOB: "Buffer" };

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  /** The column's position in the primary key, from 1; 0 if it is not in the key. */
  readonly pk: number;
}

/**
 * Writes the source of the module with the row types, from the tables themselves. If a CHECK limits a text to a few values, its type is the
 * union of these values. A column that a new row need not name is `Generated`: it has a default, or it is the number of the row.
 *
 * @param connection a connection to a database with all tables @param tables the content of each table, in the order of reading
 */
export function renderTables(connection: Driver.Database, tables: Readonly<Record<string, string>>): string {
  const unknown = new Set([...Object.keys(NOTES), ...GIVEN]);
  const types = Object.entries(tables).map(([table, comment]) => {
    const sql = connection
      .prepare<[string], string>("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
      .pluck()
      .get(table);
    const columns = connection
      .prepare<[string], Column>('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)')
      .all(table);
    const keyLength = columns.filter(({ pk }) => pk > 0).length;
    const members = columns.map((column) => {
      const place = `${table}.${column.name}`;
      unknown.delete(place);
      const note = NOTES[place] === undefined ? "" : `    /** ${NOTES[place]} */\n`;
      return `${note}    ${column.name}: ${typeOf({ ...column, isKey: keyLength === 1 && column.pk === 1 }, place, sql ?? "")};\n`;
    });
    return `  /** ${comment} */\n  ${table}: {\n${members.join("")}  };\n`;
  });
  if (unknown.size > 0)
    throw new Error(`scripts/table-types.ts: no such columns: ${[...unknown].join(", ")}`);
  return [
    "// Made by scripts/embed-migrations.ts from the tables that migrations/*.sql make.\n",
    "/* oxlint-disable max-lines */\n",
    'import type { Generated } from "kysely";\n\n',
    "/** Row types of every table. Times are milliseconds since 1970 UTC. */\n",
    `export interface Tables {\n${types.join("")}}\n`,
  ].join("");
}

function typeOf(column: Column & { readonly isKey: boolean }, place: string, sql: string): string {
  const { name, type, notnull, dflt_value: preset, pk, isKey } = column;
  const listed = new RegExp(`\\b${name} IN \\(('[^)]*')\\)`).exec(sql)?.[1];
  const plain = TYPES[type];
  if (plain === undefined) throw new Error(`${place}: what is a ${type} in a row?`);
  const value = type === "TEXT" && listed !== undefined ? unionOf(listed) : plain;
  const own = notnull === 0 && pk === 0 ? `${value} | null` : value;
  const isNumber = type === "INTEGER" && isKey && !sql.includes("WITHOUT ROWID");
  return (preset !== null || isNumber) && !GIVEN.has(place) ? `Generated<${own}>` : own;
}

function unionOf(listed: string): string {
  return listed
    .split(",")
    .map((each) => each.trim().replaceAll("'", '"'))
    .join(" | ");
}
