import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import SqliteDatabase from "better-sqlite3";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as one JSON document. */
  json(): unknown;
}

export interface RunningServer {
  readonly url: string;
  readonly process: ChildProcessWithoutNullStreams;
  /** Every line that was logged so far. */
  readonly lines: readonly Record<string, unknown>[];
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Endpoint {
  readonly id: string;
  readonly secret: string;
  readonly publishable: string;
}

/** A clean folder with a configuration without limits, and the real program run there as processes of its own. */
export interface OperatorMachine {
  readonly folder: string;
  readonly database: string;
  path(name: string): string;
  configure(settings: Record<string, unknown>): void;
  run(args: readonly string[], options?: { input?: string; env?: NodeJS.ProcessEnv }): Promise<Ran>;
  /** Fails the test unless the command exits with 0. */
  mustRun(args: readonly string[], input?: string): Promise<Ran>;
  serve(options?: { env?: NodeJS.ProcessEnv; args?: readonly string[] }): Promise<RunningServer>;
  createEndpoint(schema?: unknown): Promise<Endpoint>;
  /** A connection of the test's own. */
  open(file?: string): SqliteDatabase.Database;
}

const UNLIMITED = { monthlySubmissions: null, endpoints: null, customSpam: true };
const exampleSchema = {
  name: { type: "string", required: true },
  email: { type: "string", required: true, format: "email" },
  message: { type: "string" },
};

export function operatorMachine(): OperatorMachine {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-operator-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  const configure = (settings: Record<string, unknown>): void => {
    const content = {
      server: { port: 0 },
      plans: { hobby: UNLIMITED },
      rateLimit: { publishable: { max: null }, secret: { max: null } },
      ...settings,
    };
    writeFileSync(path("formsvc.config.json"), JSON.stringify(content));
  };
  configure({});
  const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [MAIN, ...args], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1", ...env },
    });
  const run: OperatorMachine["run"] = async (args, options = {}) => {
    const child = start(args, options.env);
    child.stdin.end(options.input ?? "");
    const [stdout, stderr, code] = await Promise.all([
      collect(child.stdout),
      collect(child.stderr),
      new Promise<number | null>((resolve) => child.once("close", resolve)),
    ]);
    return { code, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
  };
  const mustRun = async (args: readonly string[], input?: string): Promise<Ran> => {
    const ran = await run(args, input === undefined ? {} : { input });
    if (ran.code !== 0) throw new Error(`${args.join(" ")}: exit ${ran.code}\n${ran.stderr}`);
    return ran;
  };
  return {
    folder,
    database: path("formsvc.db"),
    path,
    configure,
    run,
    mustRun,
    serve: ({ env, args = [] } = {}) => startServer(start(["serve", ...args], env)),
    async createEndpoint(schema = exampleSchema) {
      const args = ["endpoint", "create", "--name", "Contact", "--schema", "-", "--json"];
      const made = (await mustRun(args, JSON.stringify(schema))).json() as {
        endpoint: { id: string };
        keys: { secret: string; publishable: string };
      };
      return { id: made.endpoint.id, ...made.keys };
    },
    open(file = path("formsvc.db")) {
      const connection = new SqliteDatabase(file);
      onTestFinished(() => void connection.close());
      return connection;
    },
  };
}

async function startServer(child: ChildProcessWithoutNullStreams): Promise<RunningServer> {
  const lines: Record<string, unknown>[] = [];
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const complaint = collect(child.stderr);
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      lines.push(entry);
      if (entry["event"] === "server.listening") resolve(String(entry["url"]));
    });
    void exited.then(async (code) =>
      reject(new Error(`the server ended with ${String(code)}: ${await complaint}`)),
    );
  });
  return {
    url,
    process: child,
    lines,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return exited;
    },
  };
}

/** Posts a form; the id of what was acknowledged. */
export async function post(
  url: string,
  key: string,
  data: Record<string, unknown> = { name: "Ada", email: "ada@example.org", message: "Are you open today?" },
): Promise<string> {
  const answer = await fetch(`${url}/submit`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(data),
  });
  const body = (await answer.json()) as { submission_id?: string };
  if (body.submission_id === undefined) throw new Error(`answered ${answer.status}: ${JSON.stringify(body)}`);
  return body.submission_id;
}

/** Posts from many senders at once until told to stop; what was acknowledged, in that order. */
export function postForever(
  url: string,
  key: string,
  senders = 8,
): { acknowledged: string[]; stop(): Promise<void> } {
  const acknowledged: string[] = [];
  const state = { stopped: false };
  const sending = Array.from({ length: senders }, async () => {
    while (!state.stopped) acknowledged.push(await post(url, key));
  });
  return {
    acknowledged,
    async stop() {
      state.stopped = true;
      await Promise.all(sending);
    },
  };
}

/** Ids of the submissions that a database file holds. */
export function storedIds(file: string): Set<string> {
  const connection = new SqliteDatabase(file, { readonly: true });
  try {
    return new Set(connection.prepare("SELECT id FROM submission").pluck().all() as string[]);
  } finally {
    connection.close();
  }
}

export function modeOf(stats: { mode: number }): string {
  return (stats.mode & 0o777).toString(8);
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  for await (const part of stream) text += String(part);
  return text;
}
