import type { Command } from "commander";
import { cleanName } from "../../files/clean-name.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { exactSizeText, sizeText } from "../../foundation/file-list.ts";
import { plainText } from "../../foundation/plain-text.ts";
import {
  deleteFile,
  type FileJson,
  listAllFiles,
  saveFile,
  showFile,
} from "../../submissions/files/file-operations.ts";
import { addNoun, command, parseFile } from "../command.ts";
import { labelEndpoints } from "../flags/endpoint-label.ts";
import { createExportFile } from "../transfer/export-file.ts";
import { operate } from "../operate.ts";
import { operationCommand } from "../operation-command.ts";
import { noteNextPage, pageOf, pageOptions } from "../flags/page-options.ts";
import { checkIds, writeParts } from "../transfer/save-bytes.ts";

export function register(program: Command): void {
  addNoun(program, "file", "Files that came with submissions", [list, show, save, remove]);
}

const SAMPLE_ID = "fil_01h455vb4pex5vsknk084sn02q";

const list = operationCommand({
  usage: "list",
  options: [
    { flags: "--endpoint <endpoint>", summary: "only files of this endpoint" },
    { flags: "--submission <submission>", summary: "only files of this submission" },
    ...pageOptions,
  ],
  examples: ["formsvc file list --endpoint Jobs"],
  operation: listAllFiles,
  input: ({ endpoint, submission, ...page }) => ({ endpoint, submission, ...pageOf(page) }),
  async print({ output, perform }, listed) {
    const label = await labelEndpoints(perform);
    const rows = listed.data.map((file) => toRow(file, label(file.endpoint_id)));
    output.table(["CREATED", "ID", "SUBMISSION", "ENDPOINT", "SIZE", "NAME"], rows, "no files");
    noteNextPage(output, listed);
  },
});

function toRow(file: FileJson, endpoint: string): string[] {
  const { id, submission_id: submission, created_at: created, size, name } = file;
  return [created, id, submission, endpoint, sizeText(size), plainText(name)];
}

const show = operationCommand({
  usage: "show <file>",
  operation: showFile,
  input: (_options, [file]) => ({ file }),
  print: ({ output }, { file }) =>
    output.table(
      ["FILE", ""],
      [
        ["id", file.id],
        ["name", file.name],
        ["size", exactSizeText(file.size)],
        ["type", file.type],
        ["SHA-256", file.sha256],
        ["submission", file.submission_id],
        ["endpoint", file.endpoint_id],
        ["created", file.created_at],
      ],
      "",
    ),
});

const save = command({
  usage: "save <file> [path]",
  summary: "Save a file under its own name here, as PATH, or to standard output (-)",
  notes: "The new file has mode 0600. A file that is there already is never replaced.",
  examples: [`formsvc file save ${SAMPLE_ID} cv.pdf`, `formsvc file save ${SAMPLE_ID} - | sha256sum`],
  action: (context, _options, [id, path]) => {
    const { output } = context;
    if (path === "-" && output.isJson)
      throw new FormsvcError("usage", "- writes the bytes themselves; leave --json out, or name a file");
    return operate(context, async ({ perform, stream }) => {
      const { file } = await perform(showFile, { file: id });
      checkIds(file);
      const name = path === undefined ? ownName(file) : parseFile(path);
      const parts = await stream(saveFile, { file: id });
      if (name === "-") return writeParts(file, parts, (bytes) => output.bytes(bytes));
      const saved = createExportFile(name);
      try {
        await writeParts(file, parts, (bytes) => saved.bytes(bytes));
        saved.finish();
      } finally {
        saved.abandon();
      }
      if (output.isJson) return output.json({ file, path: name });
      return output.note(`saved: ${plainText(name)} (${sizeText(file.size)})`);
    });
  },
});

/**
 * A name for the saved file, in this folder. A stranger chose the original name, so it must not look like a flag of the next command; and a
 * server at a distance could name another folder.
 */
function ownName({ id, name: given }: FileJson): string {
  const name = cleanName(given) ?? id;
  return name.startsWith("-") ? `${id}${name}` : name;
}

const remove = operationCommand({
  usage: "delete <file>",
  operation: deleteFile,
  input: (_options, [file]) => ({ file }),
  async ask(input, { perform }) {
    const { file } = await perform(showFile, input);
    return { text: `Delete ${plainText(file.name)} of ${file.submission_id} for good?` };
  },
  clearsLog: true,
  print: ({ output }, { deleted }) => output.note(`deleted: ${deleted}`),
});
