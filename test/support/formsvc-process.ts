import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/** The built program where the settings of the tests name it, else the sources. */
const executable = process.env["FORMSVC_EXECUTABLE"];
const [program, first] = executable === undefined ? [process.execPath, [main]] : [executable, []];

export interface TestForm {
  readonly id: string;
  readonly secret: string;
  readonly publishable: string;
}

export interface FormOptions {
  readonly schema: Record<string, unknown>;
  readonly allowOrigin?: readonly string[];
  readonly workspace?: string;
  /** Further flags of `endpoint set`. */
  readonly set?: readonly string[];
}

/** A server process on a database of its own, with the command line beside it: nothing is shared with the test. */
export interface FormsvcProcess {
  readonly url: string;
  readonly folder: string;
  /** Requests that were answered, as `METHOD path status`, oldest first; the path is the route's pattern. */
  readonly requests: readonly string[];
  /** Runs a command and returns what `--json` prints. */
  command(...args: string[]): Promise<Record<string, unknown>>;
  addForm(options: FormOptions): Promise<TestForm>;
  /** The stored data of a form, oldest first. */
  stored(form: TestForm): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** Unlimited unless the test says otherwise, so that only a test that is about a limit meets it. */
const ENVIRONMENT = {
  FORMSVC_PLANS: JSON.stringify({
    hobby: { monthlySubmissions: null, endpoints: null, customSpam: true },
    tiny: { monthlySubmissions: 1, endpoints: null, customSpam: false },
  }),
  FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX: "null",
  FORMSVC_RATE_LIMIT_BAD_KEY_MAX: "null",
};

/** @param settings environment variables. */
export async function startFormsvc(settings: Record<string, string> = {}): Promise<FormsvcProcess> {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-browser-"));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, ...ENVIRONMENT, ...settings };
  const server = spawn(program, [...first, "serve", "--port", "0"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const requests: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`serve ended with ${code}`)));
    createInterface(server.stdout).on("line", (line) => {
      const entry = JSON.parse(line) as Record<"event" | "url" | "method" | "path", string> & {
        status: number;
      };
      if (entry.event === "request") requests.push(`${entry.method} ${entry.path} ${entry.status}`);
      if (entry.event === "server.listening") resolve(entry.url);
    });
  });
  const command = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await promisify(execFile)(program, [...first, ...args, "--json"], {
      cwd: folder,
      env,
    });
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  let forms = 0;
  return {
    url,
    folder,
    requests,
    command,
    async addForm({ schema, allowOrigin = [], workspace, set = [] }) {
      forms += 1;
      const file = join(folder, `schema-${forms}.json`);
      writeFileSync(file, JSON.stringify(schema));
      const flags = allowOrigin.flatMap((origin) => ["--allow-origin", origin]);
      if (workspace !== undefined) flags.push("--workspace", workspace);
      const create = ["endpoint", "create", "--name", `Form ${forms}`, "--schema", file, ...flags];
      const made = (await command(...create)) as {
        endpoint: { id: string };
        keys: { secret: string; publishable: string };
      };
      if (set.length > 0) await command("endpoint", "set", made.endpoint.id, ...set);
      return { id: made.endpoint.id, ...made.keys };
    },
    async stored(form) {
      const listed = await command("submission", "list", "--endpoint", form.id, "--limit", "1000");
      return (listed["data"] as { data: Record<string, unknown> }[]).map(({ data }) => data).reverse();
    },
    async stop() {
      const gone = server.exitCode === null ? once(server, "exit") : null;
      server.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
