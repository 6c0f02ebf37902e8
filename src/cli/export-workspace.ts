import { exportFile } from "../apply/export-file.ts";
import { countOf } from "../foundation/count-of.ts";
import { FormsvcError } from "../foundation/errors.ts";
import { jsonText } from "../foundation/plain-text.ts";
import { type ArchiveMember, zipStream } from "../foundation/zip-stream.ts";
import { exportSubmissions } from "../submissions/export-submissions.ts";
import { listAllFiles, saveFile } from "../submissions/file-operations.ts";
import { listHeld } from "../submissions/held-operations.ts";
import { showWorkspace } from "../workspaces/workspace-operations.ts";
import { performing } from "./apply-command.ts";
import { command, parseFile } from "./command.ts";
import { createExportFile } from "./export-file.ts";
import { operate } from "./operate.ts";
import type { Terminal } from "./terminal.ts";

/** Rows of one page that a server is asked for. */
const PAGE_ROWS = 100;

/** What was written so far. */
interface Counts {
  endpoints: number;
  submissions: number;
  held: number;
  files: number;
}

export const exportWorkspace = command({
  usage: "export <workspace> <file>",
  summary: "Write a workspace into a ZIP archive: its settings, submissions, held posts and files",
  notes: `settings.json is a file for formsvc apply, submissions.ndjson one for submission import; held.ndjson and files/ have
the rest. Keys, secrets and what is in the bin are not in it. The new file has mode 0600. A file that is there already is
never replaced.`,
  examples: ["formsvc workspace export 'Client sites' client-sites.zip"],
  action: (context, _options, [reference, path]) =>
    operate(context, async (terminal) => {
      const { output } = context;
      const name = parseFile(path);
      const { workspace } = await terminal.perform(showWorkspace, { workspace: reference });
      const counts: Counts = { endpoints: 0, submissions: 0, held: 0, files: 0 };
      const notes: string[] = [];
      const file = createExportFile(name);
      try {
        for await (const bytes of zipStream(membersOf(terminal, workspace.id, counts, notes)))
          file.bytes(bytes);
        file.finish();
      } finally {
        file.abandon();
      }
      for (const note of notes) output.note(note);
      if (output.isJson) return output.json({ workspace_id: workspace.id, path: name, ...counts });
      const { endpoints, submissions, held, files } = counts;
      return output.note(
        `wrote ${name}: ${countOf(endpoints, "endpoint")}, ${countOf(submissions, "submission")}, ${countOf(held, "held post")}, ${countOf(files, "file")}`,
      );
    }),
});

async function* membersOf(
  terminal: Terminal,
  workspace: string,
  counts: Counts,
  notes: string[],
): AsyncGenerator<ArchiveMember> {
  const settings = await exportFile(performing(terminal), workspace);
  notes.push(...settings.notes);
  counts.endpoints = settings.file.workspaces[0]?.endpoints.length ?? 0;
  yield { name: "settings.json", content: [`${jsonText(settings.file, 2)}\n`] };
  yield { name: "submissions.ndjson", content: submissionsOf(terminal, workspace, counts) };
  yield { name: "held.ndjson", content: heldOf(terminal, workspace, counts) };
  yield* filesOf(terminal, workspace, counts);
}

async function* submissionsOf(
  { stream }: Terminal,
  workspace: string,
  counts: Counts,
): AsyncGenerator<string> {
  const input = { workspace, format: "ndjson" } as const;
  for await (const { text, count } of await stream(exportSubmissions, input, () => ({ searches: null }))) {
    counts.submissions = count;
    yield text;
  }
}

async function* heldOf({ perform }: Terminal, workspace: string, counts: Counts): AsyncGenerator<string> {
  let cursor: string | null = null;
  do {
    const page: { readonly data: readonly object[]; readonly next_cursor: string | null } = await perform(
      listHeld,
      {
        workspace,
        limit: PAGE_ROWS,
        cursor,
      },
    );
    counts.held += page.data.length;
    yield page.data.map((each) => `${jsonText(each)}\n`).join("");
    cursor = page.next_cursor;
  } while (cursor !== null);
}

async function* filesOf(
  { perform, stream }: Terminal,
  workspace: string,
  counts: Counts,
): AsyncGenerator<ArchiveMember> {
  let cursor: string | null = null;
  do {
    const page: { readonly data: readonly { readonly id: string }[]; readonly next_cursor: string | null } =
      await perform(listAllFiles, { workspace, limit: PAGE_ROWS, cursor });
    for (const { id } of page.data) {
      const parts = await unlessGone(stream(saveFile, { file: id }));
      if (parts === null) continue;
      counts.files += 1;
      yield { name: `files/${id}`, content: bytesOf(parts) };
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
}

/** Null for a file that was deleted since it was listed. */
async function unlessGone<Result>(asked: Promise<Result>): Promise<Result | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof FormsvcError && error.code === "not_found") return null;
    throw error;
  }
}

async function* bytesOf(parts: AsyncIterable<{ readonly bytes: string }>): AsyncGenerator<Buffer> {
  for await (const { bytes } of parts) yield Buffer.from(bytes, "base64");
}
