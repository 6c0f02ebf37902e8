import { spawn } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { startReceiverWith } from "../support/receivers.ts";
import { findPostgresql, freePort, NOBODY } from "../support/postgresql-cluster.ts";
import { executable } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { type Block, blocksOf } from "../recipes/recipe-blocks.ts";

const PAGE = new URL("../../docs/many-servers.md", import.meta.url);
/** The blocks of the page's last part, with ports that are free here: others may have those of the page. */
async function readBlocks(): Promise<Block[]> {
  const page = readFileSync(PAGE, "utf8");
  const part = page.slice(page.lastIndexOf("## Everything on one machine"));
  const ports = new Set(part.match(PORT));
  const free = new Set<number>();
  while (free.size < ports.size) free.add(await freePort());
  const own = new Map([...ports].map((port, index) => [port, String([...free][index])]));
  return blocksOf(part.replaceAll(PORT, (port) => own.get(port) ?? port));
}

const PORT = /\b(?:54|88)\d\d\b/g;

interface Shell {
  /** Resolves with what the lines print; rejects if one of them fails. */
  run(lines: string): Promise<string>;
}

/** A shell of a user without rights, which stops at the first error. */
function startShell(folder: string): Shell {
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}:/usr/sbin:/usr/bin:/bin` };
  const shell = spawn("bash", ["-e"], {
    ...user,
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const said: string[] = [];
  let heard = (): void => undefined;
  for (const stream of [shell.stdout, shell.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      said.push(line);
      heard();
    });
  }
  let isOver = false;
  shell.once("close", () => {
    isOver = true;
    heard();
  });
  onTestFinished(async () => {
    // What it started in the background belongs to its group; PostgreSQL and nginx are daemons.
    if (!isOver) killIfThere(-(shell.pid ?? 0), "SIGKILL");
    for (const file of ["primary/postmaster.pid", "standby/postmaster.pid", "nginx.pid"]) {
      const path = join(folder, file);
      if (existsSync(path)) killIfThere(Number.parseInt(readFileSync(path, "utf8"), 10), "SIGQUIT");
      await until(() => !existsSync(path));
    }
  });
  let blocks = 0;
  return {
    async run(lines) {
      const end = `END OF BLOCK ${(blocks += 1)}`;
      const from = said.length;
      shell.stdin.write(`${lines}\nprintf '\\n%s\\n' '${end}'\n`);
      await new Promise<void>((resolve, reject) => {
        heard = () => {
          if (said.includes(end)) resolve();
          else if (isOver) reject(new Error(`the shell ended:\n${said.slice(from).join("\n")}`));
        };
        heard();
      });
      return said.slice(from, said.indexOf(end)).join("\n");
    },
  };
}

function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself.
  }
}

function has(program: string): boolean {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"];
  return folders.some((folder) => existsSync(join(folder, program)));
}

const isMissing = findPostgresql() === null || !has("nginx") || !has("curl");
if (isMissing) process.stderr.write("SKIPPED: the recipe of many servers needs PostgreSQL, nginx and curl\n");

test.skipIf(isMissing)(
  "the recipe of many servers loses no post when a server and the primary die, delivers all, and leads back to a file",
  async () => {
    await using receiver = await startReceiverWith((response) => response.end());
    const folder = temporaryFolder();
    copyFileSync(executable, join(folder, "formsvc"));
    chmodSync(join(folder, "formsvc"), 0o755);
    if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
    const shell = startShell(folder);
    let printed = "";
    const acknowledged = () => [...printed.matchAll(/"submission_id":"(\w+)"/g)].map(([, id = ""]) => id);
    const isDelivered = (id: string) => receiver.received.some(({ body }) => body.includes(id));
    const blocks = await readBlocks();
    const last = blocks.pop();
    for (const { language, file, text } of blocks) {
      if (language === "sh") printed += await shell.run(text);
      else writeFileSync(join(folder, file), text);
      if (text.includes("endpoint create"))
        await shell.run(`formsvc webhook create --endpoint Contact --url ${receiver.url} --allow-private`);
    }
    expect(acknowledged()).toHaveLength(4);
    await until(() => acknowledged().every(isDelivered));
    await shell.run(last?.text ?? "");
    const listed = await shell.run("formsvc submission list --db formsvc.db --json");
    expect(acknowledged().filter((id) => !listed.includes(id))).toEqual([]);
  },
);
