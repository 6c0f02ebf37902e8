import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.ts";

/** Renders the help of every command, in the order and the words in which the program prints it. */
export async function renderCommands(): Promise<string> {
  const program = await createProgram(undefined);
  const sections = [section(program, "##"), ...program.commands.flatMap(sectionsOf)];
  return `# Commands

Made from the commands themselves by \`npm run fix\`: this is what \`--help\` prints.

${sections.join("\n\n")}
`;
}

function sectionsOf(command: Command): string[] {
  return [section(command, "##"), ...command.commands.map((verb) => section(verb, "###"))];
}

function section(command: Command, mark: string): string {
  return `${mark} ${pathOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let text = "";
  command
    .configureOutput({
      writeOut: (part) => {
        text += part;
      },
    })
    .outputHelp();
  return text.trimEnd();
}
