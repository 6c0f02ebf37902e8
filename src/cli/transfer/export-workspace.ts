import { exportWorkspace as exporting } from "../../archive/export-workspace.ts";
import { countOf } from "../../foundation/count-of.ts";
import { showWorkspace } from "../../workspaces/workspace-operations.ts";
import { operationParts } from "../commands/apply-command.ts";
import { command, parseFile } from "../command.ts";
import { createExportFile } from "./export-file.ts";
import { operate } from "../operate.ts";

export const exportWorkspace = command({
  usage: "export <workspace> <file>",
  summary: "Write a workspace into a ZIP archive: its settings, submissions, held posts and files",
  notes: `settings.json is a file for formsvc apply, submissions.ndjson one for submission import, held.ndjson
one for held import; files/ has the files of both. Keys, secrets and what is in the bin are not in it. The new file has mode 0600. A file that is there already is
never replaced.`,
  examples: ["formsvc workspace export 'Client sites' client-sites.zip"],
  action: (context, _options, [reference, path]) =>
    operate(context, async ({ perform, stream }) => {
      const { output } = context;
      const name = parseFile(path);
      const { id } = (await perform(showWorkspace, { workspace: reference })).workspace;
      let counts = { endpoints: 0, submissions: 0, held: 0, files: 0 };
      const file = createExportFile(name);
      try {
        const parts = await stream(exporting, { workspace: id }, operationParts);
        for await (const { base64, notes, ...soFar } of parts) {
          file.bytes(Buffer.from(base64, "base64"));
          for (const note of notes) output.note(note);
          counts = soFar;
        }
        file.finish();
      } finally {
        file.abandon();
      }
      if (output.isJson) return output.json({ workspace_id: id, path: name, ...counts });
      const { endpoints, submissions, held, files } = counts;
      return output.note(
        `wrote ${name}: ${countOf(endpoints, "endpoint")}, ${countOf(submissions, "submission")}, ${countOf(held, "held post")}, ${countOf(files, "file")}`,
      );
    }),
});
