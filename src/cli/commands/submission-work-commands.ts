import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import {
  addNote,
  deleteSubmissions,
  emptyBin,
  setSubmissions,
  undeleteSubmissions,
} from "../../submissions/manage/work-operations.ts";
import { listSubmissions, showSubmission } from "../../submissions/manage/submission-operations.ts";
import { MAX_NOTE_LENGTH, MAX_NOTES } from "../../submissions/stored/submission-work.ts";
import { readInput } from "../flags/arguments.ts";
import { operationCommand } from "../operation-command.ts";
import type { Here } from "../output/terminal.ts";

const SAMPLE_ID = "sub_01h455vb4pex5vsknk084sn02q";

const set = operationCommand({
  usage: "set <submission...>",
  options: [
    { flags: "--state <state>", summary: "the new state", choices: ["open", "done"] },
    {
      flags: "--assignee <email>",
      summary:
        "account that looks after them, which must see the workspace; none: nobody; me: the owner of the token, if a server is asked",
    },
  ],
  examples: [
    `formsvc submission set ${SAMPLE_ID} --state done`,
    `formsvc submission set ${SAMPLE_ID} --assignee bo@example.com`,
  ],
  operation: setSubmissions,
  input({ state, assignee }, ids) {
    if (state === null && assignee === null)
      throw new FormsvcError("usage", "give --state, --assignee, or both");
    const wanted = { ...(state !== null && { state }), ...(assignee !== null && { assignee }) };
    return { submissions: [...ids], ...wanted };
  },
  print({ output }, { state, assignee }, { submissions }) {
    const said = [
      ...(state === undefined ? [] : [state]),
      ...(assignee === undefined ? [] : [`assigned to ${assignee?.email ?? "nobody"}`]),
    ];
    output.note(`${said.join(", ")}: ${submissions.length}`);
  },
});

const note = operationCommand({
  usage: "note <submission> <text>",
  summary: "Add a note to a submission, for those who see it; - reads standard input",
  notes: `Plain text of at most ${MAX_NOTE_LENGTH} characters. A submission has at most ${MAX_NOTES} notes.`,
  examples: [`formsvc submission note ${SAMPLE_ID} 'Called back, wants an offer by Friday'`],
  operation: addNote,
  input: (_options, [submission, text]) => ({ submission, text: text === "-" ? readInput("-") : text }),
  print: ({ output }, { note: { id } }) => output.note(`noted: ${id}`),
});

const remove = operationCommand({
  usage: "delete <submission...>",
  summary: "Delete submissions: into the bin for submissions.binDays, or for good",
  options: [{ flags: "--now", summary: "delete them for good, even if they are in the bin already" }],
  operation: deleteSubmissions,
  input: ({ now }, ids) => ({ submissions: [...new Set(ids)], now }),
  async check({ submissions, now }, { perform }) {
    for (const submission of submissions)
      await perform(showSubmission, { submission, ...(now && { deleted: true }) });
  },
  ask({ submissions, now }, { here }) {
    const what = submissions.length === 1 ? submissions[0] : `${submissions.length} submissions`;
    return { text: `Delete ${what}${isFinal(now, here) ? " for good" : ""}?` };
  },
  clearsLog: ({ now }, { here }) => isFinal(now, here),
  print({ output, here }, { deleted }, { now }) {
    // A server does not say how long its bin keeps submissions.
    const days = here === null || isFinal(now, here) ? null : here.config.submissions.binDays;
    const kept = days === null ? "" : ` (for ${countOf(days, "day")}, submission undelete brings them back)`;
    output.note(`deleted: ${deleted.length}${kept}`);
  },
});

function isFinal(now: boolean | undefined, here: Here | null): boolean {
  return now === true || here?.config.submissions.binDays === 0;
}

const undelete = operationCommand({
  usage: "undelete <submission...>",
  summary: "Bring submissions back out of the bin",
  examples: ["formsvc submission list --deleted", `formsvc submission undelete ${SAMPLE_ID}`],
  operation: undeleteSubmissions,
  input: (_options, ids) => ({ submissions: [...ids] }),
  print: ({ output }, { undeleted }) => output.note(`brought back: ${undeleted.length}`),
});

const empty = operationCommand({
  usage: "empty-bin",
  options: [
    { flags: "--workspace <workspace>", summary: "empty only the bin of this workspace" },
    { flags: "--endpoint <endpoint>", summary: "empty only the bin of this endpoint" },
  ],
  operation: emptyBin,
  input: ({ workspace, endpoint }) => ({ workspace, endpoint }),
  check: (input, { perform }) =>
    perform(listSubmissions, { ...input, deleted: true, limit: 1 }, () => ({ searches: null })),
  ask: () => ({ text: "Delete for good what is in the bin?" }),
  clearsLog: true,
  print: ({ output }, { deleted }) => output.note(`deleted for good: ${deleted}`),
});

/** The commands for people's work on submissions: state, assignee, notes and the bin. */
export const workCommands = [set, note, remove, undelete, empty];
