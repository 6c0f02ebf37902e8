import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const PROGRAM = new URL("../../src/main.ts", import.meta.url).pathname;
const START_TIMEOUT_MS = 20_000;

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** A folder with a configuration and a database, and the real program run over it as processes of their own. */
export class ProgramFolder {
  readonly path = mkdtempSync(join(tmpdir(), "formsvc-program-"));
  #server: ChildProcess | null = null;
  url = "";

  constructor(config: Record<string, unknown>) {
    writeFileSync(join(this.path, "formsvc.config.json"), JSON.stringify(config));
  }

  get databasePath(): string {
    return join(this.path, "formsvc.db");
  }

  async run(args: readonly string[], input = ""): Promise<CommandResult> {
    const running = promisify(execFile)(process.execPath, [PROGRAM, ...args], { cwd: this.path });
    running.child.stdin?.end(input);
    try {
      return { ...(await running), code: 0 };
    } catch (error) {
      const { stdout, stderr, code } = error as CommandResult;
      return { stdout, stderr, code };
    }
  }

  async json<Shape>(args: readonly string[], input = ""): Promise<Shape> {
    const { stdout, stderr, code } = await this.run([...args, "--json"], input);
    if (code !== 0) throw new Error(`formsvc ${args.join(" ")}: ${code} ${stderr}`);
    return JSON.parse(stdout) as Shape;
  }

  /** Starts `serve` on a free port and waits until it listens. */
  async serve(): Promise<void> {
    const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0"], {
      cwd: this.path,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#server = child;
    const errors: string[] = [];
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
    const timer = setTimeout(() => child.kill("SIGKILL"), START_TIMEOUT_MS);
    for await (const line of createInterface({ input: child.stdout })) {
      const { event, url } = JSON.parse(line) as { event?: string; url?: string };
      if (event === "server.listening" && url !== undefined) {
        clearTimeout(timer);
        this.url = url;
        child.stdout.resume();
        return;
      }
    }
    throw new Error(`serve did not start: ${errors.join("")}`);
  }

  /** Sends a signal and waits for the end; how long that took, in milliseconds. */
  async end(signal: NodeJS.Signals): Promise<number> {
    const server = this.#server;
    this.#server = null;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return 0;
    const startedAt = performance.now();
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
    return performance.now() - startedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
    rmSync(this.path, { recursive: true, force: true });
  }
}
