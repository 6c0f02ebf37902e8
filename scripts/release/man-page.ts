import type { Command } from "commander";

/** Writes the manual page of the program from the help of its commands. */
export function renderManPage(program: Command, version: string, seconds: number): string {
  const date = new Date(seconds * 1000).toISOString().slice(0, 10);
  const commands = program.commands
    .flatMap((noun) => [noun, ...noun.commands])
    .filter((each) => each.name() !== "help");
  return `.TH FORMSVC 1 "${date}" "formsvc ${version}" "User Commands"
.SH NAME
formsvc \\- form backend in one executable and one SQLite file
.SH SYNOPSIS
.B formsvc
.I command
.RI [ argument .\\|.\\|.]
.SH DESCRIPTION
It takes posts of forms, checks them against a schema, scores them for spam, stores them, and sends them on by e\\-mail and webhooks.
.B formsvc serve
takes posts until it is stopped; everything else is a command of the same program.
.SH COMMANDS
${commands.map(section).join("\n")}
.SH FILES
.TP
.I ./formsvc.config.json\\fR, \\fI/etc/formsvc/formsvc.config.json
the configuration, unless
.B \\-\\-config
or
.B FORMSVC_CONFIG
names another file
.TP
.I ./formsvc.db
the database, unless
.BR \\-\\-db ,
.B FORMSVC_DATABASE_PATH
or the configuration names another one
.SH EXIT STATUS
0 done, 1 failed, 2 wrong usage or configuration, 3 not found, 4 refused by a plan limit, 5 database busy or unusable.
`;
}

function section(command: Command): string {
  const path = [command.name()];
  for (let { parent } = command; parent !== null && parent.parent !== null; parent = parent.parent)
    path.unshift(parent.name());
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  const flags = command.options.map(
    (option) => `.br\n.B ${escape(option.flags)}\n${escape(option.description) || "(no description)"}`,
  );
  return [`.TP`, `.B ${escape([...path, ...words].join(" "))}`, escape(command.description()), ...flags].join(
    "\n",
  );
}

/** Escapes a text: a line that begins with a dot or an apostrophe would be an instruction. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^[.']/gm, "\\&$&");
}
