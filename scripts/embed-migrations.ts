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
  member: "Who sees a workspace, and as what. A trigger makes the account of a new workspace its owner.",
  invitation: "Who is asked to become a member, for 7 days.",
  usage: "Accepted submissions by workspace and UTC calendar month (YYYY-MM), which plan limits count.",
  endpoint: "One form: its settings.",
  endpoint_number: "A small number for each endpoint, which its submissions refer to. A trigger adds it.",
  endpoint_schema: "Every version of an endpoint's schema.",
  api_key: "Keys, as hashes.",
  api_token: "Tokens of the HTTP API, as hashes.",
  login_request: "Command lines that ask to be logged in, for ten minutes.",
  api_answer:
    "The first answer to an Idempotency-Key over the API, without secrets, for 24 h. Both hashes are SHA-256.",
  submission:
    "Accepted posts. seq is the order of commits, which `tail` follows; a deleted row's number is not used again.",
  imported_row:
    "Rows of other services' exports that were imported, as hashes. They outlive their submissions.",
  idempotency:
    "The first 200 answer of an Idempotency-Key, for 24 h, by kind of API key. Both hashes are SHA-256.",
  held: "Posts that were refused as spam or for the month's limit and can be released.",
  held_network:
    "How many held posts a network has in a workspace, and which of them is deleted first. Triggers count.",
  held_total:
    "How many posts a workspace holds, counted by triggers, and how many were deleted for lack of room.",
  file: "Files of submissions and held posts. One that belongs to neither any more is deleted by a clean-up.",
  file_chunk: "The bytes of files, 262144 a row; the last row of a file has the rest.",
  file_deletion:
    "Objects of the store of files whose file is gone, written by triggers, until the store has deleted them.",
  file_total: "How many files an endpoint has, and their bytes, counted by triggers.",
  file_scan: "Files that a virus scanner has not judged.",
  scan_wait: "Submissions whose messages wait until their files are judged, or until a time.",
  upload_use: "Bytes of files that came in a UTC day, by address (its hash) and by form.",
  spent_proof: "Proofs of work that posts brought, until they would be late; each counts once.",
  settings_version: "One row. Raised by every change to what servers hold in memory.",
  untrusted_proxy:
    "One row. The last address that seems to be a proxy which `server.trustProxy` does not name.",
  page_fault: "What a page with a form does wrong, as its posts show: the last time of each kind.",
  told_problem:
    "Problems that the operator was told of by e-mail and that had not ended: a restart tells none of them again.",
  recipient: "Recipients of an endpoint's notifications, for any transport, each with its state.",
  webhook: "Address and settings of a recipient that is reached over HTTP.",
  webhook_secret: "Keys that sign notifications. After a rotation the old one expires.",
  mail_recipient: "Address and settings of a recipient that is reached by e-mail.",
  letter:
    "Letters of the server that must not be lost. None holds the token of a link: that of a confirmation is made when its turn has come.",
  auto_reply: "The automatic reply of an endpoint: an e-mail to whoever posts, with the owner's text.",
  reply_language: "In which language whoever posted gets the automatic reply, if the post said it.",
  quota_use:
    "What was counted against limits of messages: a row for each message and limit, until it counts no more.",
  recipient_pace:
    "How much a recipient got lately, if its transport limits that. A recipient that got nothing yet has no row.",
  place_fault:
    "Places that fail at present, like a mail server: all recipients there wait. For people; the server starts without any.",
  outbox: "Messages that are not claimed yet; one row has those of one transaction to one recipient.",
  delivery: "One message to one recipient: its state and when its next attempt is due.",
  attempt: "Every attempt of a delivery.",
  limit_notice:
    "Which owners were told in which month that their workspace comes near its monthly limit, has reached it, and holds a first post for it.",
  mail_frame:
    "What an e-mail about submissions is made of besides them, from before its first attempt on: each attempt sends the same bytes.",
  workspace_spam: "A workspace's choices for the spam filter.",
  endpoint_spam: "An endpoint's choices for the spam filter.",
  refused_origin:
    "Pages whose posts an endpoint refused, because their origin is not among its allowed ones.",
  remembered_text: "Sketches of the last texts that a workspace received, to recognise repeated ones.",
  remembered_text_key: "Keys by which remembered texts are found.",
  lesson: "Submissions that somebody marked as spam or not, as the features that the filter learns from.",
  learned_weights: "The weights that a workspace's filter has learned from its lessons.",
  credential: "How an account signs in. One that never did has no row.",
  recovery_code: "Codes that stand in for the second factor, each for one sign-in.",
  passkey: "Passkeys (WebAuthn): what somebody's device signs in with.",
  spent_challenge: "Challenges that a passkey has answered, until they are too old to be answered again.",
  sign_in_link: "Links that set an account's password, each for one use.",
  mailed_link: "Links in letters, each for one use, that make an account or set a forgotten password.",
  session: "Browsers that are signed in.",
  oidc_binding: "Which subject of an OpenID issuer an account is.",
  file_link_key: "One row. The key that signs the addresses of files.",
  sign_in_key: "One row. The key of what tells that a browser or an address signed in before.",
  known_address: "Addresses, as keyed hashes, from which an account was used in the last 30 days.",
  submission_read: "Who has read which submission. An unread one has no row.",
  submission_work:
    "What people do about a submission: whether it is done, and whose it is. One that is open and nobody's needs no row.",
  submission_bin: "Submissions that were deleted and can be brought back. Each is still in `submission`.",
  submission_note: "What people noted about a submission.",
  audit_event: "Who changed what. The oldest rows are deleted.",
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
