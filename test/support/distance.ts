import { makeTokenHere, serveHere, type ServerHere } from "./machine-database.ts";

/**
 * Whether the commands of a test go to a server over HTTP, as they do in the project `distance` of the tests. That project leaves out tests
 * of what only the machine of the database knows or may do, for example its configuration.
 */
export const isAtDistance = process.env["FORMSVC_TESTS_AT"] === "a distance";

/** Commands that are about a machine. The reason for each is in `test/tidy/doors.ts` or in docs/remote.md. */
const LOCAL =
  /^(?:init|serve|backup|restore|migrate|copy|secrets|doctor|config|systemd|completion|docs|help|upgrade|version|healthcheck|login|logout|context|token|mail (?:check|test)|account (?:sign-in-link|reset-totp)|schema (?:check|edit)|webhook (?:verify|listen)|spam eval)\b/;

/** Whether a command line works only on the machine. With a server it would be refused, or it would ignore the server. */
function isLocal(args: readonly string[]): boolean {
  return (
    LOCAL.test(args.slice(0, 2).join(" ")) ||
    args.some((word) => /^(?:--db|--config|--server|--help|-h)$/.test(word))
  );
}

/** Lets commands reach the database in a folder through a server, with a token that may do everything. */
export class Distance {
  readonly #folder: string;
  #token: string | null = null;
  #own: Promise<ServerHere> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns the environment variables with which a command goes to the server; none if the command is local.
   * @param running the address of a server that a test started in the folder; if it is null, this object starts one itself
   */
  async variables(
    args: readonly string[],
    running: string | null,
  ): Promise<Readonly<Record<string, string>>> {
    if (isLocal(args)) return {};
    this.#token ??= await makeTokenHere(this.#folder);
    const url = running ?? (await (this.#own ??= serveHere(this.#folder))).url;
    // The path does not exist, so that a command that ignores the server finds nothing.
    return { FORMSVC_SERVER: url, FORMSVC_TOKEN: this.#token, FORMSVC_DATABASE_PATH: "/nowhere/formsvc.db" };
  }

  /** Stops this object's own server. Call it if the configuration changes, before a test starts a server, and at the end. */
  async leave(): Promise<void> {
    const own = this.#own;
    this.#own = null;
    await (await own)?.stop();
  }
}
