import type { Command } from "commander";
import { version } from "../foundation/version.ts";
import { addCommand } from "./command.ts";

export function register(program: Command): void {
  addCommand(program, {
    usage: "version",
    summary: "Print the version",
    action: ({ output }) => (output.isJson ? output.json({ version }) : output.line(version)),
  });
}
