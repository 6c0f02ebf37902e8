import type { Command } from "commander";
import { exportFile } from "../../apply/export-file.ts";
import { yamlText } from "../../apply/file-text.ts";
import { performing } from "./apply-command.ts";
import { addCommand, command } from "../command.ts";
import { operate } from "../operate.ts";

export function register(program: Command): void {
  addCommand(program, exportConfig);
}

const exportConfig = command({
  usage: "export-config",
  summary: "Print workspaces and endpoints with their settings as a file for formsvc apply",
  notes: `It is YAML, or JSON with --json. Keys, secrets and what was submitted are not in it; for secrets that a
new webhook needs it names environment variables. It is no backup: see formsvc backup.`,
  examples: ["formsvc export-config > forms.yaml", "formsvc export-config --json | jq '.workspaces[].name'"],
  action: (context) =>
    operate(context, async (terminal) => {
      const { file, notes } = await exportFile(performing(terminal, context.output));
      if (!context.output.isJson) return context.output.text(await yamlText(file, notes));
      for (const note of notes) context.output.note(note);
      return context.output.json(file);
    }),
});
