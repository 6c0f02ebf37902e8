/** A command line with what surrounds its process. */
export interface HostedCommand {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The names of the files for the standard streams, each at the place of its descriptor. */
export const STREAM_FILES = ["input", "output", "errors"] as const;

/** The variable with the folder of these files, which makes a process that starts from the snapshot a host of commands. */
export const STREAMS_VARIABLE = "FORMSVC_TESTS_STREAMS";
