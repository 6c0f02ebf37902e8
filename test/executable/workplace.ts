import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { until } from "../support/until.ts";

export const executable = fileURLToPath(new URL("../../dist/formsvc", import.meta.url));

export const exampleSchema = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
};
export const examplePost = { name: "Ada", email: "ada@example.com", message: "Hello" };

export interface Ran {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly input?: string;
  /** Added to an environment that holds nothing: no PATH, no HOME, no TMPDIR. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs as the system's user nobody where the tests run as root, to whom no mode of a file says no. */
  readonly asNobody?: boolean;
}

export interface Keys {
  readonly endpointId: string;
  readonly secret: string;
  readonly publishable: string;
}

export interface Server {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything it wrote to standard output so far. */
  readonly log: () => string;
  readonly err: () => string;
  /** Resolves with the exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

/** A folder of its own with an empty database, and the built executable run in it. */
export interface Workplace {
  readonly folder: string;
  readonly database: string;
  path(name: string): string;
  write(name: string, content: unknown): string;
  start(args: readonly string[], options?: RunOptions): ChildProcess;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Standard output of a command that must succeed, parsed as JSON. */
  json<Result = Record<string, unknown>>(args: readonly string[], options?: RunOptions): Promise<Result>;
  createEndpoint(name?: string): Promise<Keys>;
  /** On a free port, ready to take posts. */
  serve(args?: readonly string[], options?: RunOptions): Promise<Server>;
}

/** Gone with all its processes when the test ends. */
export function makeWorkplace(): Workplace {
  const folder = mkdtempSync("/tmp/formsvc-test-");
  // Open to all, so that a test can run as another user.
  chmodSync(folder, 0o777);
  const children: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map(whenEnded));
    rmSync(folder, { recursive: true, force: true });
  });
  const start: Workplace["start"] = (args, options = {}) => {
    const asNobody = options.asNobody === true && process.getuid?.() === 0;
    const program = asNobody ? reachableByAll(folder) : executable;
    const nobody = asNobody ? { uid: 65_534, gid: 65_534 } : {};
    const child = spawn(program, [...args], { cwd: folder, env: { ...options.env }, ...nobody });
    children.push(child);
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    return child;
  };
  const run: Workplace["run"] = (args, options) => collect(start(args, options));
  const json: Workplace["json"] = async <Result>(args: readonly string[], options?: RunOptions) => {
    const ran = await run([...args, "--json"], options);
    if (ran.code !== 0) throw new Error(`${args.join(" ")} ended with ${ran.code}: ${ran.err}`);
    return JSON.parse(ran.out) as Result;
  };
  return {
    folder,
    database: join(folder, "formsvc.db"),
    path: (name) => join(folder, name),
    write(name, content) {
      writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
      return join(folder, name);
    },
    start,
    run,
    json,
    async createEndpoint(name = "Contact") {
      const made = await json<{ endpoint: { id: string }; keys: Omit<Keys, "endpointId"> }>(
        ["endpoint", "create", "--name", name, "--schema", "-"],
        { input: JSON.stringify(exampleSchema) },
      );
      return { endpointId: made.endpoint.id, ...made.keys };
    },
    serve: (args = [], options = {}) => watchServer(start(["serve", "--port", "0", ...args], options)),
  };
}

/** The repository may lie in a folder that only its owner can enter. */
function reachableByAll(folder: string): string {
  const program = join(folder, "program");
  if (!existsSync(program)) copyFileSync(executable, program, constants.COPYFILE_FICLONE);
  return program;
}

export function post(
  url: string,
  key: string,
  body: unknown = examplePost,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

export async function collect(child: ChildProcess): Promise<Ran> {
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  return { code: await whenEnded(child), out, err };
}

export function whenEnded(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
}

async function watchServer(child: ChildProcess): Promise<Server> {
  let log = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (log += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = whenEnded(child);
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${err}`);
    return /"url":"(http[^"]+)"/.exec(log)?.[1];
  });
  return { url, child, log: () => log, err: () => err, ended };
}
