import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exampleSchema } from "../../test/support/example-schema.ts";
import { executable, postRequest, type RunningServer, startServer } from "./processes.ts";

/** A contact form of 300 bytes that the filter does not suspect. */
export const POST_BODY = JSON.stringify({
  name: "Ada Lovelace",
  email: "ada@example.com",
  message:
    "Good morning, my daughter lost her red scarf at your swimming pool yesterday afternoon, most likely in the changing " +
    "room for women. Has anybody handed it in? We can come by on Saturday to pick it up. Her initials are in the seam.",
});
export const ENDPOINT = "Bench";
export const WITHOUT_LIMITS = {
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_SECRET_MAX: "null",
  FORMSVC_RATE_LIMIT_TOKEN_MAX: "null",
  FORMSVC_PLANS_HOBBY_MONTHLY_SUBMISSIONS: "null",
  FORMSVC_PLANS_HOBBY_FILE_BYTES: "null",
  FORMSVC_FILES_MAX_BYTES_PER_ADDRESS_PER_DAY: "null",
};

/** A folder, and a database with one endpoint. */
export interface Workplace {
  readonly folder: string;
  readonly db: string;
  /** The file with the schema of the endpoint. */
  readonly schemaFile: string;
  /** A whole HTTP request that posts. */
  readonly request: string;
  /** Runs a command on the database and returns what it printed. */
  readonly run: (...args: string[]) => string;
  /** Starts a server. @param core the number of its core @param under a program that runs the server, with its own arguments */
  readonly serve: (core?: string, under?: readonly string[]) => Promise<RunningServer>;
  /** Copies the program again. Depending on how the system holds a copy in memory, starts take 280 or 480 ms. */
  readonly renewProgram: () => void;
  readonly remove: () => void;
}

/**
 * Makes a workplace.
 *
 * @param address the address of a PostgreSQL database, which replaces the file in the folder
 * @param built the program to measure
 */
export function makeWorkplace(address: string | null = null, built = executable): Workplace {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-bench-"));
  const db = address ?? join(folder, "bench.db");
  // The program is copied, because the system holds a file that was just linked in larger pieces of memory than a copy, and an installed
  // program is a copy.
  const program = join(folder, "formsvc");
  copyFileSync(built, program);
  const run = (...args: string[]): string =>
    execFileSync(program, [...args, "--db", db], { env: { ...process.env, ...WITHOUT_LIMITS } }).toString();
  const { keys, schemaFile } = makeEndpoint(folder, run);
  let servers = 0;
  return {
    folder,
    db,
    schemaFile,
    request: postRequest(keys.publishable, POST_BODY),
    run,
    serve: (core, under = []) =>
      startServer(
        [...under, program, "serve", "--port", "0", "--db", db],
        join(folder, `serve-${(servers += 1)}.log`),
        WITHOUT_LIMITS,
        core,
      ),
    renewProgram: () => {
      rmSync(program);
      copyFileSync(built, program);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Makes an endpoint with the schema of the examples, and writes the schema to a file in the folder. @param run runs a command on the
 * database
 */
export function makeEndpoint(folder: string, run: (...args: string[]) => string) {
  const schemaFile = join(folder, "schema.json");
  writeFileSync(schemaFile, JSON.stringify(exampleSchema));
  const made = run("endpoint", "create", "--name", ENDPOINT, "--schema", schemaFile, "--json", "--quiet");
  const { endpoint, keys } = JSON.parse(made) as { endpoint: { id: string }; keys: { publishable: string } };
  return { endpoint, keys, schemaFile };
}
