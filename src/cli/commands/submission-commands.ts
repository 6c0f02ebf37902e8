import { shorten } from "../../foundation/shorten.ts";
import type { AnyDatabase } from "../../database/any-database.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { Mark } from "../../history/teach.ts";
import { MAX_PAGE_SIZE } from "../../operations/list-page.ts";
import type { SubmissionJson } from "../../submissions/stored/submission-json.ts";
import {
  listSubmissions,
  markSubmissionsAs,
  markSubmissionsRead,
  showSubmission,
} from "../../submissions/manage/submission-operations.ts";
import { tailSubmissions } from "../../submissions/find/tail-submissions.ts";
import { parseCount } from "../flags/arguments.ts";
import { addNoun, command } from "../command.ts";
import { labelEndpoints } from "../flags/endpoint-label.ts";
import { findCommand } from "./find-command.ts";
import { operate } from "../operate.ts";
import { operationCommand } from "../operation-command.ts";
import { noteNextPage, pageOf, pageOptions } from "../flags/page-options.ts";
import { filterInput, filterOptions, searchOption, workOptions } from "../flags/submission-filter.ts";
import type { Here, PerformCommand } from "../output/terminal.ts";
import { exportCommand } from "./submission-export-command.ts";
import { importCommand } from "./submission-import-command.ts";
import { contentText, printWhole } from "../output/submission-view.ts";
import { workCommands } from "./submission-work-commands.ts";

export function register(program: Command): void {
  addNoun(program, "submission", "The accepted posts", [
    list,
    show,
    tail,
    findCommand,
    exportCommand,
    importCommand,
    ...workCommands,
    mark,
    markReadCommand,
  ]);
}

const DEFAULT_TAIL = 10;
/** Time between two checks for new commits. Each check is one pragma, which reads no file. */
const FOLLOW_INTERVAL_MS = 200;
/** The largest number of characters of the data in a table's row. */
const MAX_SHOWN_DATA = 80;

const list = operationCommand({
  usage: "list",
  options: [
    ...filterOptions,
    searchOption,
    ...workOptions,
    { flags: "--deleted", summary: "only submissions in the bin" },
    ...pageOptions,
  ],
  examples: [
    "formsvc submission list --endpoint Contact --since 24h",
    "formsvc submission list --class high --json",
    "formsvc submission list --search 'oak table'",
    "formsvc submission list --state open --assignee bo@example.com",
  ],
  operation: listSubmissions,
  parts: () => ({ searches: null }),
  input(options) {
    const { search, state, assignee, deleted } = options;
    return { ...filterInput(options), search, state, assignee, deleted, ...pageOf(options) };
  },
  async print({ output, perform }, page) {
    const label = await labelEndpoints(perform);
    const rows = page.data.map((submission) => toRow(submission, label(submission.endpoint_id)));
    output.table(HEADINGS, rows, "no submissions");
    noteNextPage(output, page);
  },
});

const show = command({
  usage: "show <submission>",
  summary: "Show a submission with its spam reasons",
  options: [{ flags: "--deleted", summary: "show it even if it is in the bin" }],
  action: (context, { deleted }, [id]) =>
    operate(context, async ({ perform }) => {
      const { mark, ...submission } = await perform(showSubmission, { submission: id, deleted });
      const { schema_version: _version, ...shown } = submission;
      if (context.output.isJson) context.output.json(shown);
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
    {
      flags: "--limit <count>",
      summary: `how many stored submissions to print first (default: ${DEFAULT_TAIL}; with --since or --cursor: ${MAX_PAGE_SIZE}; with --cursor and --follow: all)`,
      parse: parseCount(MAX_PAGE_SIZE),
    },
    {
      flags: "--cursor <submission>",
      summary: "print only what was stored after the submission with this id, like the last one printed",
    },
  ],
  examples: [
    "formsvc submission tail --follow",
    "formsvc submission tail --follow --json | jq .data.email",
    "formsvc submission tail --cursor sub_01h455vb4pex5vsknk084sn02q --follow --json",
  ],
  action: (context, options) =>
    operate(context, async ({ perform, stream }) => {
      const { limit, cursor, follow } = options;
      const input = { ...filterInput(options), limit, cursor, follow };
      const label = rememberLabels(perform);
      const parts = ({ db }: Here) => ({ committed: watchCommits(db), searches: null });
      for await (const submission of await stream(tailSubmissions, input, parts)) {
        if (context.output.isJson) context.output.jsonLine(submission);
        else {
          const row = toRow(submission, await label(submission.endpoint_id));
          context.output.line(row.map(plainText).join("  "));
        }
      }
    }),
});

const mark = command({
  usage: "mark <submission> <mark>",
  summary: "Teach the workspace's filter that a submission is spam or ham (genuine); none undoes it",
  examples: ["formsvc submission mark sub_01h455vb4pex5vsknk084sn02q spam"],
  action: (context, _options, [id, wanted]) => {
    if (!["spam", "ham", "none"].includes(wanted))
      throw new FormsvcError("usage", "the mark is spam, ham or none");
    return operate(context, async ({ perform }) => {
      const chosen = wanted === "none" ? null : (wanted as Mark);
      await perform(markSubmissionsAs, { submissions: [id], mark: chosen });
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
    { flags: "--account <email>", summary: "the account that has read them", required: true },
    { flags: "--undo", summary: "show them as unread again" },
  ],
  examples: ["formsvc submission mark-read sub_01h455vb4pex5vsknk084sn02q --account ada@example.com"],
  action: (context, { account, undo }, ids) =>
    operate(context, async ({ perform }) => {
      const { read } = await perform(markSubmissionsRead, { submissions: ids, account, read: !undo });
      if (context.output.isJson) return context.output.json({ ids, read });
      return context.output.note(`${read ? "read" : "unread"}: ${ids.length}`);
    }),
});

const HEADINGS = ["CREATED", "ID", "ENDPOINT", "SPAM", "DATA"];

function toRow(submission: SubmissionJson, endpoint: string): string[] {
  const shown = shorten(plainText(contentText(submission)), MAX_SHOWN_DATA);
  return [submission.created_at, submission.id, endpoint, String(submission.spam_score), shown];
}

/** Returns how `tail` names an endpoint. Each endpoint is looked up once. */
function rememberLabels(perform: PerformCommand): (endpointId: string) => Promise<string> {
  const labels = new Map<string, string>();
  return async (id) => {
    const label = labels.get(id) ?? (await labelEndpoints(perform))(id);
    labels.set(id, label);
    return label;
  };
}

/** Returns a function that waits until another process has committed something since the last call. */
function watchCommits(db: AnyDatabase): () => Promise<void> {
  // PostgreSQL reports commits only to a client that waits on a connection of its own.
  if (db.engine === "postgresql") return () => sleep(FOLLOW_INTERVAL_MS);
  let seen = Number.NaN;
  return async () => {
    let version: number;
    while ((version = Number(db.pragma("data_version"))) === seen) await sleep(FOLLOW_INTERVAL_MS);
    seen = version;
  };
}
