import type { Command } from "commander";
import { version } from "../../foundation/version.ts";
import { addCommand, command } from "../command.ts";

export function register(program: Command): void {
  addCommand(
    program,
    command({
      usage: "version",
      isLocal: true,
      summary: "Print the version",
      action: ({ output }) => (output.isJson ? output.json({ version }) : output.line(version)),
    }),
  );
}
