import { makeTokenHere, serveHere, type ServerHere } from "./machine-database.ts";

/**
 * Whether commands of a machine go to a server over HTTP, as the project `distance` of the tests has it. It leaves out a test of what only
 * the machine of the database knows or may do, like its configuration.
 */
export const isAtDistance = process.env["FORMSVC_TESTS_AT"] === "a distance";

/** Commands that are about a machine, with the reason in `test/tidy/doors.ts` or in docs/remote.md. */
const LOCAL =
  /^(?:init|serve|backup|restore|migrate|copy|secrets|doctor|config|systemd|completion|docs|help|upgrade|version|healthcheck|login|logout|context|token|mail (?:check|test)|account (?:sign-in-link|reset-totp)|schema (?:check|edit)|webhook (?:verify|listen)|spam eval)\b/;

/** Whether a command line works on the machine, and would at a distance be refused or ignore the server. */
function isLocal(args: readonly string[]): boolean {
  return (
    LOCAL.test(args.slice(0, 2).join(" ")) ||
    args.some((word) => /^(?:--db|--config|--server|--help|-h)$/.test(word))
  );
}

/** Reaches the database in a folder through a server, with a token that may do everything. */
export class Distance {
  readonly #folder: string;
  #token: string | null = null;
  #own: Promise<ServerHere> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The variables with which a command goes to the server; none for what is local.
   *
   * @param running a server that a test started in the folder; without one this serves there itself.
   */
  async variables(
    args: readonly string[],
    running: string | null,
  ): Promise<Readonly<Record<string, string>>> {
    if (isLocal(args)) return {};
    this.#token ??= await makeTokenHere(this.#folder);
    const url = running ?? (await (this.#own ??= serveHere(this.#folder))).url;
    // A command that works here all the same would find nothing.
    return { FORMSVC_SERVER: url, FORMSVC_TOKEN: this.#token, FORMSVC_DATABASE_PATH: "/nowhere/formsvc.db" };
  }

  /** Ends its own server: it has an old configuration, or a test starts one, or all is done. */
  async leave(): Promise<void> {
    const own = this.#own;
    this.#own = null;
    await (await own)?.stop();
  }
}
