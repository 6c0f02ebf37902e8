import type { AnyDatabase } from "../database/any-database.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { toIsoTime } from "../foundation/clock.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { type Mark, findMark } from "../history/teach.ts";
import { judgeSubmissions, removeSubmissions } from "../submissions/administer-submissions.ts";
import { submissionJson } from "../submissions/submission-json.ts";
import type { Submission } from "../submissions/submission.ts";
import { browseSubmissions } from "../submissions/browse-submissions.ts";
import { followSubmissions, type Tail } from "../submissions/follow-submissions.ts";
import { markRead, markUnread } from "../submissions/read-marks.ts";
import { getSubmission, getViewableSubmission, MAX_PAGE_SIZE } from "../submissions/submission-store.ts";
import { getAccount } from "../workspaces/workspace-store.ts";
import { readTail, tailAfter, tailEnd } from "../submissions/tail.ts";
import { confirm, parseCount } from "./arguments.ts";
import { clearLog } from "./clear-log.ts";
import { addNoun, command, type CommandContext } from "./command.ts";
import { findCommand } from "./find-command.ts";
import { labelEndpoints } from "./endpoint-label.ts";
import { withDatabase } from "./open.ts";
import { plainText } from "../foundation/plain-text.ts";
import { filterOptions, readFilter, searchOption } from "./submission-filter.ts";
import { exportCommand, importCommand } from "./submission-transfer.ts";
import { contentText, printWhole } from "./submission-view.ts";

export function register(program: Command): void {
  addNoun(program, "submission", "The accepted posts", [
    list,
    show,
    tail,
    findCommand,
    exportCommand,
    importCommand,
    remove,
    mark,
    markReadCommand,
  ]);
}

const DEFAULT_PAGE_SIZE = 25;
const DEFAULT_TAIL = 10;
/** Time between two checks for new commits. Each check is one pragma, which reads no file. */
const FOLLOW_INTERVAL_MS = 200;
/** Longest text of the data in a table's row. */
const MAX_SHOWN_DATA = 80;

const limitOption = (summary: string) =>
  ({ flags: "--limit <count>", summary, parse: parseCount(MAX_PAGE_SIZE) }) as const;

const list = command({
  usage: "list",
  summary: "List submissions, newest first",
  options: [
    ...filterOptions,
    searchOption,
    limitOption(`how many, 1 to ${MAX_PAGE_SIZE} (default: ${DEFAULT_PAGE_SIZE})`),
    { flags: "--cursor <cursor>", summary: "the next_cursor of the page before" },
  ],
  examples: [
    "formsvc submission list --endpoint Contact --since 24h",
    "formsvc submission list --class high --json",
    "formsvc submission list --search 'oak table'",
  ],
  action: (context, options) =>
    withDatabase(context, async (db) => {
      const { limit, cursor, search } = options;
      const filter = { ...(await db.read(() => readFilter(options))), text: search };
      const page = await browseSubmissions(db, filter, {
        limit: limit ?? DEFAULT_PAGE_SIZE,
        cursor,
        maxBytes: Infinity,
      });
      if (context.output.isJson) {
        return context.output.json({ data: page.data.map(submissionJson), next_cursor: page.nextCursor });
      }
      context.output.table(HEADINGS, await labelledRows(db, page.data), "no submissions");
      if (page.nextCursor !== null) context.output.note(`more with: --cursor ${page.nextCursor}`);
      return undefined;
    }),
});

const show = command({
  usage: "show <submission>",
  summary: "Show a submission with its spam reasons",
  action: (context, _options, [id]) =>
    withDatabase(context, async (db) => {
      const submission = await db.read(() => getSubmission(id));
      const mark = await db.read(() => findMark(id));
      if (context.output.isJson) context.output.json(submissionJson(submission));
      else printWhole(context.output, submission);
      return mark === null ? undefined : context.output.note(`marked as ${mark}`);
    }),
});

const tail = command({
  usage: "tail",
  summary: "Print the newest submissions, and with --follow each new one when it comes",
  options: [
    { flags: "--follow", summary: "go on until interrupted" },
    ...filterOptions,
    limitOption(
      `how many of those that are there already (default: ${DEFAULT_TAIL}; with --since or --cursor: ${MAX_PAGE_SIZE}; with --cursor and --follow all)`,
    ),
    {
      flags: "--cursor <submission>",
      summary: "what was stored after this id, like the last one printed, in the order of storing",
    },
  ],
  examples: [
    "formsvc submission tail --follow",
    "formsvc submission tail --follow --json | jq .data.email",
    "formsvc submission tail --cursor sub_01h455vb4pex5vsknk084sn02q --follow --json",
  ],
  action: (context, options) =>
    withDatabase(context, async (db) => {
      const filter = await db.read(() => readFilter(options));
      const { cursor, follow: follows } = options;
      const from = await db.read(() => (cursor === null ? tailEnd() : tailAfter(cursor)));
      if (cursor !== null)
        return goOn(context, db, { filter, from }, follows ? null : (options.limit ?? MAX_PAGE_SIZE));
      const limit = options.limit ?? (filter.since === null ? DEFAULT_TAIL : MAX_PAGE_SIZE);
      const newest = await browseSubmissions(db, filter, { limit, cursor: null, maxBytes: Infinity });
      const shown = newest.data.toReversed();
      await printLines(context, db, shown);
      // A submission committed between the two reads is in both.
      const printed = new Set(shown.map(({ id }) => id));
      if (follows) await follow(context, db, { filter, from }, printed);
      return undefined;
    }),
});

const remove = command({
  usage: "delete <submission...>",
  summary: "Delete submissions for good",
  options: [{ flags: "--yes", summary: "do it without being asked" }],
  action: async (context, options, ids) => {
    await confirm(`Delete ${ids.length === 1 ? ids[0] : `${ids.length} submissions`} for good?`, options.yes);
    return withDatabase(context, async (db) => {
      await db.transaction(() => removeSubmissions(null, ids, context.clock.now()));
      clearLog(context, db);
      return context.output.isJson
        ? context.output.json({ deleted: ids })
        : context.output.note(`deleted: ${ids.length}`);
    });
  },
});

const mark = command({
  usage: "mark <submission> <mark>",
  summary: "Teach the workspace's filter that a submission is spam or ham; none undoes it",
  examples: ["formsvc submission mark sub_01h455vb4pex5vsknk084sn02q spam"],
  action: (context, _options, [id, wanted]) => {
    if (!["spam", "ham", "none"].includes(wanted))
      throw new FormsvcError("usage", "the mark is spam, ham or none");
    return withDatabase(context, async (db) => {
      const chosen = wanted === "none" ? null : (wanted as Mark);
      await db.transaction(() => judgeSubmissions(null, { ids: [id], mark: chosen }, context.clock.now()));
      if (context.output.isJson) return context.output.json({ id, mark: chosen });
      return context.output.note(
        chosen === null ? `${id} has no mark any more` : `${id} is marked ${chosen}`,
      );
    });
  },
});

const markReadCommand = command({
  usage: "mark-read <submission...>",
  summary: "Note that an account has read submissions, as opening them in the dashboard does",
  options: [
    { flags: "--account <email>", summary: "whose inbox shows them as read", required: true },
    { flags: "--undo", summary: "show them as unread again" },
  ],
  examples: ["formsvc submission mark-read sub_01h455vb4pex5vsknk084sn02q --account ada@example.com"],
  action: (context, { account: reference, undo }, ids) =>
    withDatabase(context, async (db) => {
      await db.transaction(function* () {
        const account = yield* getAccount(reference);
        const viewing = { accountId: account.id, isOperator: account.isOperator };
        for (const id of ids) yield* getViewableSubmission(viewing, id);
        yield* undo ? markUnread(account.id, ids) : markRead(account.id, ids);
      });
      if (context.output.isJson) return context.output.json({ ids, read: !undo });
      return context.output.note(`${undo ? "unread" : "read"}: ${ids.length}`);
    }),
});

const HEADINGS = ["CREATED", "ID", "ENDPOINT", "SPAM", "DATA"];

function toRow(submission: Submission, endpoint: string): string[] {
  const data = plainText(contentText(submission));
  const shown = data.length > MAX_SHOWN_DATA ? `${data.slice(0, MAX_SHOWN_DATA)}…` : data;
  return [toIsoTime(submission.createdAt), submission.id, endpoint, String(submission.spamScore), shown];
}

/** One line each. */
async function printLines(
  { output }: CommandContext,
  db: AnyDatabase,
  submissions: readonly Submission[],
): Promise<void> {
  if (output.isJson) {
    for (const submission of submissions) output.jsonLine(submissionJson(submission));
    return;
  }
  const rows = await labelledRows(db, submissions);
  for (const row of rows) output.line(row.map(plainText).join("  "));
}

async function labelledRows(db: AnyDatabase, submissions: readonly Submission[]): Promise<string[][]> {
  const label = await labelEndpoints(
    db,
    submissions.map(({ endpointId }) => endpointId),
  );
  return submissions.map((submission) => toRow(submission, label(submission.endpointId)));
}

/** Starts at the point where an earlier tail stopped. @param limit null goes on without end. */
async function goOn(
  context: CommandContext,
  db: AnyDatabase,
  tail: Tail,
  limit: number | null,
): Promise<void> {
  if (limit === null) return follow(context, db, tail, new Set());
  const { filter, from } = tail;
  const { submissions } = await db.read(() => readTail(filter, from, limit));
  return printLines(context, db, submissions);
}

async function follow(
  context: CommandContext,
  db: AnyDatabase,
  tail: Tail,
  printed: ReadonlySet<string>,
): Promise<never> {
  const following = followSubmissions(db, tail, watchCommits(db));
  for (;;) {
    const { value: submission } = await following.next();
    if (!printed.has(submission.id)) await printLines(context, db, [submission]);
  }
}

/** Waits until another process has committed something since it returned last. */
function watchCommits(db: AnyDatabase): () => Promise<void> {
  // PostgreSQL would tell of a commit only to those who wait on a connection of their own.
  if (db.engine === "postgresql") return () => sleep(FOLLOW_INTERVAL_MS);
  let seen = Number.NaN;
  return async () => {
    let version: number;
    while ((version = Number(db.pragma("data_version"))) === seen) await sleep(FOLLOW_INTERVAL_MS);
    seen = version;
  };
}
