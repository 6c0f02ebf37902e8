/** A command line, and the folder and environment in which it runs. */
export interface HostedCommand {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The names of the files for the standard streams. The index of each name is the descriptor. */
export const STREAM_FILES = ["input", "output", "errors"] as const;

/**
 * The environment variable with the folder of these files. It makes a process that starts from the snapshot run commands for another
 * process.
 */
export const STREAMS_VARIABLE = "FORMSVC_TESTS_STREAMS";
