import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import Driver from "better-sqlite3";
import { type SchemaPart, structureAfter } from "../src/database/sqlite/structure.ts";
import { renderTables } from "./table-types.ts";

const folder = new URL("../migrations/", import.meta.url);
const moduleFile = new URL("../src/database/migrations.generated.ts", import.meta.url);
const postgresqlFolder = new URL("postgresql/", folder);
const postgresqlModule = new URL("../src/database/postgresql/migrations.generated.ts", import.meta.url);
const schemaFile = new URL("schema.sql", folder);
const tablesFile = new URL("../src/database/tables.generated.ts", import.meta.url);

/** The content of each table. The order of the tables is the order of reading. */
const TABLES: Readonly<Record<string, string>> = {
  account: "People who sign in, by e-mail address. An operator sees all workspaces.",
  workspace: "Groups of endpoints, each with the plan that limits it and one of its owners.",
  member:
    "The accounts that see a workspace, each with its role. A trigger makes the account of a new workspace its owner.",
  invitation: "Invitations to become a member, each valid for 7 days.",
  usage:
    "The number of accepted submissions by workspace and UTC calendar month (YYYY-MM), which plan limits count.",
  endpoint: "The settings of one form.",
  endpoint_number: "A small number for each endpoint, which its submissions refer to. A trigger adds it.",
  endpoint_schema: "Every version of an endpoint's schema.",
  api_key: "Keys of endpoints, as hashes.",
  api_token: "Tokens of the HTTP API, as hashes.",
  login_request: "Command lines that ask to be logged in, each for ten minutes.",
  api_answer:
    "The first answer to an Idempotency-Key over the API, without secrets. It is kept for 24 h. Both hashes are SHA-256.",
  submission:
    "Accepted posts. seq is the order of commits, which `tail` follows; the number of a deleted row is not used again.",
  imported_row:
    "Rows from exports of other services that were imported, as hashes. They stay after their submissions are deleted.",
  idempotency:
    "The first 200 answer to an Idempotency-Key, by kind of API key. It is kept for 24 h. Both hashes are SHA-256.",
  held: "Posts that were refused as spam or because of the monthly limit, and that can be released.",
  held_network:
    "The number of held posts that a network has in a workspace, and the one that is deleted first. Triggers count.",
  held_total:
    "The number of posts that a workspace holds, and the number of those deleted because there was no room. Triggers count.",
  file: "Files of submissions and held posts. A clean-up deletes a file that no longer belongs to either.",
  file_chunk: "The bytes of files. Each row has 262144 bytes; the last row of a file has the rest.",
  file_deletion:
    "Objects in the store of files whose file is gone. Triggers write them; they stay until the store has deleted the object.",
  file_total: "The number and the bytes of the files of an endpoint. Triggers count.",
  file_scan: "Files for which a virus scanner has given no verdict.",
  scan_wait: "Submissions whose messages wait until their files have a verdict, or until a certain time.",
  upload_use: "The bytes of files that came in a UTC day, by address (as a hash) and by form.",
  spent_proof:
    "Proofs of work that came with posts, because each is valid once. A row is kept until its proof has expired.",
  settings_version: "One row. Every change to what servers hold in memory raises its number.",
  settings_change:
    "What the last thousand changes of settings were about, so that servers drop only that from their memory.",
  clock_seen: "One row. The clock as the clean-ups saw it last, which do not follow one that went far ahead.",
  untrusted_proxy: "One row. The last address that seems to be a proxy but is not in `server.trustProxy`.",
  page_fault:
    "Faults of pages with a form, which their posts show. A row has the last time of one kind of fault.",
  told_problem:
    "Unsolved problems about which the operator got an e-mail. After a restart, no second e-mail is sent about them.",
  recipient: "Recipients of an endpoint's notifications, of every kind, each with its state.",
  webhook: "The address and settings of a recipient that is reached over HTTP.",
  webhook_secret: "Keys that sign notifications. After a rotation, the old key expires.",
  mail_recipient: "The address and settings of a recipient that is reached by e-mail.",
  letter:
    "Letters of the server that must not be lost. None contains the token of a link: a confirmation gets it when it is sent.",
  auto_reply: "The automatic reply of an endpoint: an e-mail with the owner's text to the person who posts.",
  reply_language: "The language of the automatic reply to a post, if the post named one.",
  quota_use: "The use of limits of messages: a row for each message and limit, until it no longer counts.",
  recipient_pace:
    "The number of messages that a recipient got lately, if its kind has such a limit. A recipient that got nothing yet has no row.",
  place_fault:
    "Places that fail at present, like a mail server: all their recipients wait. People read these rows; a new server ignores them.",
  outbox: "Messages that are not claimed yet. A row has the messages of one transaction to one recipient.",
  delivery: "One message to one recipient: its state and when its next attempt is due.",
  attempt: "Every attempt of a delivery.",
  limit_notice:
    "Notices to owners in a month: their workspace is near its limit of posts or files, has reached it, or holds a first post.",
  mail_frame:
    "The parts of an e-mail about submissions besides these, from before its first attempt: each attempt sends the same bytes.",
  workspace_spam: "A workspace's choices for the spam filter.",
  endpoint_spam: "An endpoint's choices for the spam filter.",
  refused_origin:
    "The origins of pages whose posts an endpoint refused, because they are not among its allowed origins.",
  remembered_text:
    "Sketches of the last texts that a workspace received, with which repeated texts are recognised.",
  remembered_text_key: "Keys by which remembered texts are found.",
  lesson: "Submissions that a person marked as spam or not, as the features from which the filter learns.",
  learned_weights: "The weights that a workspace's filter has learned from its lessons.",
  credential: "How an account signs in. An account that never signed in has no row.",
  recovery_code: "Codes that replace the second factor, each for one sign-in.",
  passkey: "Passkeys (WebAuthn), with which a person's device signs in.",
  spent_challenge:
    "Challenges that a passkey has answered. A row is kept until its challenge is too old to be answered again.",
  sign_in_link: "Links that set an account's password, each for one use.",
  mailed_link: "Links in letters, each for one use: they make an account or set a new password.",
  session: "Sessions of browsers that are signed in.",
  oidc_binding: "The account to which a subject of an OpenID issuer belongs.",
  file_link_key: "One row. The key that signs the addresses of files.",
  sign_in_key: "One row. The key for the proof that a browser or an address has signed in before.",
  known_address: "Addresses, as keyed hashes, from which an account was used in the last 30 days.",
  submission_read: "The members who have read a submission. An unread submission has no row.",
  submission_work:
    "The work on a submission: whether it is done, and who does it. One that is open and assigned to nobody needs no row.",
  submission_bin: "Submissions that were deleted and can be restored. Each is still in `submission`.",
  submission_note: "Notes of people on a submission.",
  audit_event: "The changes, and who made them. The oldest rows are deleted.",
};

interface NumberedFile {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * Reads the numbered files of a folder, in order. @param first the number of the first file; null accepts any. @throws if a number is
 * missing
 */
function readNumbered(from: URL, first: number | null): NumberedFile[] {
  const names = readdirSync(from)
    .filter((name) => name.endsWith(".sql") && name !== "schema.sql")
    .sort();
  const begin = first ?? Number(names[0]?.slice(0, 4));
  return names.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== begin + index) throw new Error(`migrations: ${name}: expected number ${begin + index}`);
    return { version, name, sql: readFileSync(new URL(name, from), "utf8") };
  });
}

function readMigrations(): NumberedFile[] {
  return readNumbered(folder, 1);
}

function renderEntries(files: readonly NumberedFile[]): string {
  const entries = files.map(
    ({ version, name, sql }) =>
      `  { version: ${version}, name: ${JSON.stringify(name)}, sql: ${JSON.stringify(sql)} },\n`,
  );
  return `export const migrations = [\n${entries.join("")}] as const;\n`;
}

/**
 * Writes the source of the module that contains PostgreSQL's migrations. The first of them stands for all SQLite migrations up to its
 * number.
 */
export function renderPostgresqlMigrations(): string {
  const files = readNumbered(postgresqlFolder, null);
  const latest = readMigrations().length;
  if (files.at(-1)?.version !== latest)
    throw new Error(`migrations/postgresql: a migration exists for both engines, so the last is ${latest}`);
  return `// Made by scripts/embed-migrations.ts from migrations/postgresql/*.sql.\n${renderEntries(files)}`;
}

/** Writes the source of the module that contains every migration in the executable, and the structure that they make. */
export function renderMigrations(): string {
  const files = readMigrations();
  const parts = structureAfter(files).map((part) => `  ${JSON.stringify(part)},\n`);
  const rows = firstRows(files).map((sql) => `  ${JSON.stringify(sql)},\n`);
  return [
    "// Made by scripts/embed-migrations.ts from migrations/*.sql.\n",
    renderEntries(files),
    "/** What a database has after all of them. */\n",
    `export const structure = [\n${parts.join("")}] as const;\n`,
    "/** The rows that they insert into an empty one. */\n",
    `export const firstRows = [\n${rows.join("")}] as const;\n`,
  ].join("");
}

/** Writes an INSERT statement for each row that a new database has. */
function firstRows(files: readonly NumberedFile[]): string[] {
  const connection = migrated(files);
  const statements = Object.keys(TABLES).flatMap((table) => {
    const rows = connection.prepare(`SELECT * FROM ${table}`).safeIntegers().raw().all() as unknown[][];
    return rows.map((row) => `INSERT INTO ${table} VALUES (${row.map(quoted(connection)).join(", ")})`);
  });
  connection.close();
  return statements;
}

function migrated(files: readonly NumberedFile[]): Driver.Database {
  const connection = new Driver(":memory:");
  for (const { sql } of files) connection.exec(sql);
  return connection;
}

/** Writes the source of the module with the row types. */
export function renderRowTypes(): string {
  const connection = migrated(readMigrations());
  const rendered = renderTables(connection, TABLES);
  connection.close();
  return rendered;
}

function quoted(connection: Driver.Database): (value: unknown) => string {
  const quote = connection.prepare("SELECT quote(?)").pluck();
  return (value) => quote.get(value) as string;
}

/** Writes the whole schema after all migrations for readers: each table with its indices and triggers. */
export function renderSchema(): string {
  const parts = structureAfter(readMigrations());
  const tables = parts.filter(({ type }) => type === "table").map(({ name }) => name);
  const described = Object.keys(TABLES);
  if (tables.toSorted().join() !== described.toSorted().join())
    throw new Error("scripts/embed-migrations.ts: TABLES must describe each table and no other");
  const sections = Object.entries(TABLES).map(([table, comment]) => {
    const own = parts.filter((part) => part.type !== "view" && tableOf(part) === table);
    own.sort((a, b) => Number(b.type === "table") - Number(a.type === "table"));
    return `-- ${comment}\n${own.map(layOut).join("")}`;
  });
  return [
    "-- The tables as all migrations together make them, for readers; nothing runs this file.\n",
    "-- Made by scripts/embed-migrations.ts from the numbered files. Times are milliseconds since 1970 UTC.\n\n",
    sections.join("\n"),
  ].join("");
}

/** Returns the table that a table, index or trigger belongs to. */
function tableOf({ type, name, sql }: SchemaPart): string | undefined {
  return type === "table" ? name : /\bON "?(\w+)"?/i.exec(sql)?.[1];
}

/** Puts each column on its own line, because SQLite adds the columns of later migrations without a line break. */
function layOut({ sql }: SchemaPart): string {
  const plain = sql.replaceAll(/"(\w+)"/g, "$1");
  return `${plain.replaceAll("\n, ", ",\n  ").replace(/([^\n])\) (STRICT.*)$/, "$1\n) $2")};\n`;
}

if (import.meta.main) {
  writeFileSync(moduleFile, renderMigrations());
  writeFileSync(postgresqlModule, renderPostgresqlMigrations());
  writeFileSync(schemaFile, renderSchema());
  writeFileSync(tablesFile, renderRowTypes());
}
