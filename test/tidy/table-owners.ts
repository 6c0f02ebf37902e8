import { ts } from "@ts-morph/common";
import { parseSource } from "./parse-source.ts";
import type { SourceFile } from "./source-rules.ts";

/** The folder of src/ that writes a table. Triggers write some of them too. */
export const TABLE_OWNERS: Readonly<Record<string, string>> = {
  account: "workspaces",
  workspace: "workspaces",
  member: "workspaces",
  invitation: "workspaces",
  usage: "workspaces",
  endpoint: "endpoints",
  endpoint_schema: "endpoints",
  endpoint_number: "endpoints",
  workspace_spam: "endpoints",
  endpoint_spam: "endpoints",
  api_key: "keys",
  api_token: "tokens",
  login_request: "tokens",
  api_answer: "operations",
  submission: "submissions",
  refused_origin: "endpoints",
  held: "submissions",
  held_network: "submissions",
  held_total: "submissions",
  idempotency: "submissions",
  untrusted_proxy: "submissions",
  page_fault: "submissions",
  told_problem: "doctor",
  limit_notice: "doctor",
  remembered_text: "history",
  remembered_text_key: "history",
  lesson: "history",
  learned_weights: "history",
  recipient: "outbox",
  outbox: "outbox",
  delivery: "outbox",
  attempt: "outbox",
  recipient_pace: "outbox",
  place_fault: "outbox",
  quota_use: "outbox",
  mail_recipient: "mail",
  auto_reply: "mail",
  reply_language: "mail",
  letter: "mail",
  mail_frame: "mail",
  webhook: "webhooks",
  webhook_secret: "webhooks",
  submission_read: "submissions",
  submission_work: "submissions",
  submission_bin: "submissions",
  submission_note: "submissions",
  imported_row: "submissions",
  clock_seen: "submissions",
  credential: "sessions",
  recovery_code: "sessions",
  sign_in_link: "sessions",
  mailed_link: "sessions",
  session: "sessions",
  oidc_binding: "sessions",
  passkey: "sessions",
  spent_challenge: "sessions",
  sign_in_key: "sessions",
  known_address: "sessions",
  audit_event: "audit",
  file: "files",
  file_chunk: "files",
  file_deletion: "files",
  file_total: "files",
  file_scan: "files",
  scan_wait: "submissions",
  file_link_key: "files",
  upload_use: "files",
  spent_proof: "submissions",
  settings_version: "database",
  settings_change: "database",
};

/** A folder that uses a table of another folder, and the reason why the owner cannot do it. */
export interface ForeignUse {
  readonly folder: string;
  /** Null for a name that is inserted when the program runs. */
  readonly table: string | null;
  readonly does: "reads" | "writes";
  readonly why: string;
}

/** A table that a source names. */
export interface TableUse {
  readonly place: string;
  readonly folder: string;
  /** Null if the source inserts a name that cannot be read here. */
  readonly table: string | null;
  readonly does: "reads" | "writes";
}

const READING_CALLS =
  /^(?:selectFrom|innerJoin|leftJoin|rightJoin|fullJoin|crossJoin|innerJoinLateral|leftJoinLateral)$/;
const WRITING_CALLS = /^(?:insertInto|replaceInto|updateTable|deleteFrom|mergeInto)$/;

const NAMES = String.raw`((?:[\w$]+(?:\s+AS\s+\w+)?\s*,\s*)*[\w$]+)`;
const READING_SQL = new RegExp(String.raw`(?<!\bDELETE\s+)\b(?:FROM|JOIN)\s+${NAMES}`, "g");
const WRITING_SQL =
  /\b(?:(?:INSERT(?:\s+OR\s+\w+)?|REPLACE)\s+INTO|DELETE\s+FROM|UPDATE(?:\s+OR\s+\w+)?(?=\s+\S+\s+SET\b))\s+([\w$]+)/g;
/** The sign for a part of an SQL text that is inserted when the program runs. */
const PUT_IN = "$";

/** Finds the tables that a source names in Kysely's queries and in SQL texts. It looks only at calls and at SQL in upper case. */
export function findTableUses(file: SourceFile): TableUse[] {
  const source = parseSource(file);
  const { path } = file;
  const folder = (path.split("/")[1] ?? "").replace(/\.ts$/, "");
  const uses: TableUse[] = [];
  const note = (node: ts.Node, table: string | null, does: TableUse["does"]): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    uses.push({ place: `${path}:${line + 1}`, folder, table, does });
  };
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const call = node.expression.name.text;
      const does = WRITING_CALLS.test(call) ? "writes" : READING_CALLS.test(call) ? "reads" : null;
      if (does !== null) for (const table of tablesOf(node.arguments[0])) note(node, table, does);
    }
    if (ts.isCallExpression(node) && node.expression.getText() === "deleteSome")
      for (const table of tablesOf(node.arguments[0])) note(node, table, "writes");
    const sql = sqlOf(node);
    if (sql !== "") for (const { table, does } of tablesInSql(sql)) note(node, table, does);
    ts.forEachChild(node, look);
  };
  look(source);
  return uses;
}

/** Returns the tables in `"a"`, `"a as b"` or an array of them. A query inside a query is checked separately. */
function tablesOf(argument: ts.Expression | undefined): (string | null)[] {
  if (argument === undefined || ts.isArrowFunction(argument)) return [];
  if (ts.isArrayLiteralExpression(argument)) return argument.elements.flatMap(tablesOf);
  return ts.isStringLiteralLike(argument) ? [argument.text.split(" ")[0] ?? ""] : [null];
}

function sqlOf(node: ts.Node): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return "";
  return node.head.text + node.templateSpans.map((span) => nameOf(span) + span.literal.text).join("");
}

/** The rows of a parameter are not a table. */
function nameOf({ expression }: ts.TemplateSpan): string {
  return ts.isIdentifier(expression) && expression.text === "LIST" ? "json_each" : PUT_IN;
}

function tablesInSql(sql: string): Pick<TableUse, "table" | "does">[] {
  const found = (does: TableUse["does"], what: RegExp): Pick<TableUse, "table" | "does">[] =>
    [...sql.matchAll(what)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => {
        const table = name.trim().split(/\s/)[0] ?? "";
        return { table: table.includes(PUT_IN) ? null : table, does };
      }),
    );
  return [...found("reads", READING_SQL), ...found("writes", WRITING_SQL)];
}

/** Returns a line for each use of another folder's table that is not listed, and for each listed use that no longer exists. */
export function checkTableOwners(
  files: readonly SourceFile[],
  owners: Readonly<Record<string, string>>,
  listed: readonly ForeignUse[],
): string[] {
  const uses = files.flatMap(findTableUses);
  const foreign = uses.filter(
    ({ table, folder }) => table === null || (Object.hasOwn(owners, table) && owners[table] !== folder),
  );
  const isListed = (use: TableUse): boolean => listed.some((entry) => isSame(entry, use));
  return [
    ...foreign
      .filter((use) => !isListed(use))
      .map(({ place, table, does }) =>
        table === null
          ? `${place}: name the table in words, so that its owner can be looked up`
          : `${place}: ${does} ${table}, which belongs to ${owners[table] ?? ""}`,
      ),
    ...listed
      .filter((entry) => !foreign.some((use) => isSame(entry, use)))
      .map(
        ({ folder, does, table }) =>
          `${folder} is listed as one that ${does} ${table ?? "any table"}, and does not`,
      ),
  ];
}

function isSame(
  one: Pick<TableUse, "folder" | "table" | "does">,
  other: Pick<TableUse, "folder" | "table" | "does">,
): boolean {
  return one.folder === other.folder && one.table === other.table && one.does === other.does;
}
