import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import SqliteDatabase from "better-sqlite3";

/**
 * Plays an operator's life in an empty folder with the built executable: install, serve, load, back up, kill, break, restore, upgrade,
 * move. At the end, it compares what is stored with what was acknowledged. It prints a line for each step, and exits with 1 at the first
 * broken promise.
 *
 * Usage: node scripts/operators-life.ts
 */
const executable = fileURLToPath(new URL("../dist/formsvc", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "formsvc-life-"));
const SENDERS = 16;

interface Form {
  readonly id: string;
  readonly key: string;
}

try {
  await live();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function live(): Promise<void> {
  const form = await install();
  const acknowledged = new Set<string>();

  let server = await serve();
  await load(server, form, acknowledged, more(acknowledged, 300));
  step("took posts", `${acknowledged.size} acknowledged`);

  const early = new Set(acknowledged);
  let isBackedUp = false;
  const meanwhile = load(server, form, acknowledged, () => isBackedUp);
  await run("backup", "backup.db");
  isBackedUp = true;
  await meanwhile;
  const inBackup = storedIn("backup.db");
  expectAll(early, inBackup, "the backup lacks what was acknowledged before it");
  step("backed up under load", `${inBackup.size} in the backup`);

  const isEnough = more(acknowledged, 300);
  const doomed = load(server, form, acknowledged, () => false);
  while (!isEnough()) await sleep(1);
  server.process.kill("SIGKILL");
  await doomed;
  server = await serve();
  expectAll(acknowledged, storedIn("formsvc.db"), "lost by kill -9");
  step("killed with -9 under load", `all ${acknowledged.size} acknowledged are there`);

  await refuse(5, "restore", "backup.db", "--yes");
  await stop(server);
  const beforeBreak = await exportAll("formsvc.db");
  writeFileSync(join(folder, "formsvc.db"), "a disk that lies ".repeat(5000));
  await refuse(5, "submission", "list");
  await refuse(1, "doctor");
  step("broke the database", "every command says so, and restore was refused while serving");

  await run("restore", "backup.db", "--yes");
  await run("doctor");
  const restored = storedIn("formsvc.db");
  expectAll(early, restored, "the restored database lacks");
  step("restored", `${restored.size} submissions are back`);

  writeFileSync(join(folder, "rescued.ndjson"), beforeBreak);
  await run("submission", "import", "rescued.ndjson");
  expectAll(acknowledged, storedIn("formsvc.db"), "lost by the import");
  step("imported what came after the backup", "everything acknowledged is there again");

  await run("migrate", "up", "--dry-run");
  server = await serve();
  await load(server, form, acknowledged, more(acknowledged, 100));
  await stop(server);
  step("upgraded and served again", `${acknowledged.size} acknowledged in all`);

  const unanswered = expectSame(acknowledged, idsOf(await exportAll("formsvc.db")), "at the end");
  await run("backup", "last.db");
  expectSame(acknowledged, storedIn("last.db"), "in the last backup");
  const left = readdirSync(folder).filter((name) => /unfinished|-copy-|restore-\d/.test(name));
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
  step(
    "compared",
    `what is there is what was acknowledged (and ${unanswered} posts whose answer the kill cut off)`,
  );
}

async function install(): Promise<Form> {
  if (!existsSync(executable)) throw new Error(`${executable} is not there; run: npm run build`);
  await run("init", "--email", "ada@example.org");
  await run("workspace", "set-plan", "ada", "business");
  const schema = JSON.stringify({ n: { type: "number", required: true } });
  writeFileSync(join(folder, "schema.json"), schema);
  const made = await run("endpoint", "create", "--name", "Contact", "--schema", "schema.json", "--json");
  const { endpoint, keys } = JSON.parse(made) as { endpoint: { id: string }; keys: { secret: string } };
  await refuse(1, "doctor");
  await run("backup", "first.db");
  await run("doctor");
  step("installed", endpoint.id);
  return { id: endpoint.id, key: keys.secret };
}

interface Served {
  readonly url: string;
  readonly process: ChildProcess;
}

async function serve(): Promise<Served> {
  const child = spawn(executable, ["serve", "--port", "0"], {
    cwd: folder,
    env: { ...process.env, FORMSVC_RATE_LIMIT_SECRET_MAX: "null", FORMSVC_LOG_FORMAT: "json" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { event, url } = JSON.parse(line) as { event?: string; url?: string };
    if (event !== "server.listening" || url === undefined) continue;
    child.stdout.resume();
    return { url, process: child };
  }
  throw new Error("the server did not start");
}

async function stop(server: Served): Promise<void> {
  const exited = once(server.process, "exit");
  server.process.kill("SIGTERM");
  const [code] = (await exited) as [number];
  if (code !== 0) throw new Error(`the server ended with ${code}`);
}

/** Returns a function that says whether this number of posts has been acknowledged from now on. */
function more(acknowledged: ReadonlySet<string>, count: number): () => boolean {
  const enough = acknowledged.size + count;
  return () => acknowledged.size >= enough;
}

/** Posts from many senders until it is enough, or until the server dies. Only a 200 counts as acknowledged. */
async function load(
  server: Served,
  form: Form,
  acknowledged: Set<string>,
  isEnough: () => boolean,
): Promise<void> {
  const send = async (): Promise<void> => {
    while (!isEnough()) {
      const answer = await fetch(`${server.url}/submit`, {
        method: "POST",
        headers: { authorization: `Bearer ${form.key}`, "content-type": "application/json" },
        body: JSON.stringify({ n: acknowledged.size }),
      });
      const body = (await answer.json()) as { submission_id?: string };
      if (body.submission_id === undefined) throw new Error(`refused: ${JSON.stringify(body)}`);
      acknowledged.add(body.submission_id);
    }
  };
  const senders = Array.from({ length: SENDERS }, () => send());
  const ended = await Promise.allSettled(senders);
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined && !server.process.killed) throw failed.reason as Error;
}

async function run(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(executable, args, { cwd: folder, maxBuffer: 2 ** 30 });
  return stdout;
}

async function refuse(code: number, ...args: readonly string[]): Promise<void> {
  const child = spawn(executable, args, { cwd: folder, stdio: "ignore" });
  const [actual] = (await once(child, "exit")) as [number];
  if (actual !== code) throw new Error(`${args.join(" ")}: exit ${actual} instead of ${code}`);
}

function exportAll(database: string): Promise<string> {
  return run("submission", "export", "--format", "ndjson", "--db", database, "--quiet");
}

function idsOf(exported: string): Set<string> {
  const lines = exported.split("\n").filter(Boolean);
  return new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
}

/** Reads the ids directly, which takes less time than an export. */
function storedIn(database: string): Set<string> {
  const connection = new SqliteDatabase(join(folder, database), { readonly: true });
  try {
    return new Set(connection.prepare("SELECT id FROM submission").pluck().all() as string[]);
  } finally {
    connection.close();
  }
}

function expectAll(wanted: ReadonlySet<string>, there: ReadonlySet<string>, what: string): void {
  const missing = [...wanted].filter((id) => !there.has(id));
  if (missing.length > 0) throw new Error(`${what}: ${missing.length}, first ${missing[0]}`);
}

/** Throws if an acknowledged post is missing. @returns the number of posts that are there without an acknowledgement */
function expectSame(acknowledged: ReadonlySet<string>, there: ReadonlySet<string>, where: string): number {
  expectAll(acknowledged, there, `missing ${where}`);
  const more = there.size - acknowledged.size;
  // A post whose answer the kill cut off may be stored all the same: at most one for each sender.
  if (more > SENDERS) throw new Error(`${more} more than acknowledged ${where}`);
  return more;
}

function step(what: string, result: string): void {
  process.stdout.write(`${what}: ${result}\n`);
}
