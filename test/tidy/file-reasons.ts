/** Lists of files that may do what no other file may. */

/** Files that read the environment, with the reason. */
export const ENVIRONMENT_READERS: Readonly<Record<string, string>> = {
  "src/config/load-config.ts": "the settings",
  "src/config/server-variables.ts": "where a command works, which is no setting of a server",
  "src/config/load-systemd.ts": "what systemd tells a service that it starts, which is no setting of ours",
  "src/cli/commands/apply-command.ts":
    "secrets that a file of forms takes from variables that it names itself",
  "src/cli/commands/schema-commands.ts":
    "VISUAL and EDITOR name the person's editor, which is no setting of the service",
  "src/cli/output/pager.ts":
    "PAGER names the person's program for long texts, which is no setting of the service",
  "src/foundation/log.ts": "NO_COLOR is a convention of terminals",
  "src/foundation/native-addon.ts":
    "systemd and the desktop name writable folders, before any configuration is read",
};

/** Files that use the program's own streams, with the reason. */
export const STREAM_USERS: Readonly<Record<string, string>> = {
  "src/cli/output/output.ts": "the writer",
  "src/main.ts": "the last words of a crash",
  "src/foundation/log.ts": "the log",
  "src/cli/flags/arguments.ts": "the prompt on a terminal",
};

/** Files that read the machine's clock, with the reason. */
export const CLOCK_READERS: Readonly<Record<string, string>> = {
  "src/foundation/clock.ts": "the clock",
  "src/foundation/log.ts": "a line's time is when it is written, whatever a test's clock says",
  "src/foundation/log-output.ts": "the same, for the line that counts lost lines",
  "src/browser/dashboard/relative-times.ts": "a page in a browser has no other clock",
  "src/dashboard/assets/assets.generated.ts": "the same, as it is embedded",
};

/** Files that choose the clock of a running program, with the reason. */
export const SYSTEM_CLOCK_USERS: Readonly<Record<string, string>> = {
  "src/foundation/clock.ts": "the clock",
  "src/foundation/log.ts": "a line's time is when it is written, whatever a test's clock says",
  "src/foundation/native-addon.ts": "runs before there is a program, and compares with times of files",
  "src/cli/command.ts": "hands it to every command",
  "src/cli/flags/arguments.ts": "a time like 24h is read before there is a command",
};

/** Files outside of the command line that contain what looks like a flag, with the reason. */
export const FLAG_WRITERS: Readonly<Record<string, string>> = {
  "src/server/backups.ts": "starts the program itself, to make a backup",
  "src/http/visitors/visitor-page.ts": "custom properties of CSS begin with two hyphens",
  "src/foundation/collect-young.ts": "sets a flag of the engine itself",
};
