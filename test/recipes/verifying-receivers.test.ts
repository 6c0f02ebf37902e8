import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { renderBody } from "../../src/outbox/queue/event.ts";
import { newSecret, secretKey, signMessage } from "../../src/webhooks/sign.ts";
import { findClosedPort } from "../support/receivers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/webhooks.md"), "utf8");
/** The folder of Python's packages, if it is not the machine's own. */
const python = process.env["FORMSVC_TEST_PYTHON"] ?? "python3";
const GO_MODULE = "github.com/standard-webhooks/standard-webhooks/libraries";
interface Example {
  readonly language: string;
  readonly file: string;
  /** Prepares the folder; false if something that it needs is missing on this machine. */
  readonly prepare: (folder: string) => boolean;
  readonly command: (port: number) => readonly string[];
  readonly missing: string;
}

const EXAMPLES: readonly Example[] = [
  {
    language: "js",
    file: "receiver.mjs",
    prepare: (folder) => {
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      return true;
    },
    command: () => [process.execPath, "receiver.mjs"],
    missing: "",
  },
  {
    language: "python",
    file: "app.py",
    prepare: (folder) => succeeds(folder, python, ["-c", "import flask, standardwebhooks"]),
    command: (port) => [python, "-m", "flask", "run", "--port", String(port)],
    missing: "pip install standardwebhooks flask",
  },
  {
    language: "go",
    file: "main.go",
    prepare: (folder) => {
      writeFileSync(join(folder, "go.mod"), `module example\n\nrequire ${GO_MODULE} v0.0.1\n`);
      const build = ["build", "-mod=mod", "-o", "receiver", "."];
      return succeeds(folder, "go", build, { GOPROXY: "off", GONOSUMDB: "*", GOFLAGS: "-mod=mod" });
    },
    command: () => ["./receiver"],
    missing: `go get ${GO_MODULE}`,
  },
  {
    language: "php",
    file: "receiver.php",
    prepare: (folder) => {
      const library = process.env["FORMSVC_TEST_PHP_VENDOR"];
      if (library === undefined || !succeeds(folder, "php", ["-v"])) return false;
      symlinkSync(library, join(folder, "vendor"));
      return true;
    },
    command: (port) => ["php", "-S", `127.0.0.1:${port}`, "receiver.php"],
    missing:
      "composer require standard-webhooks/standard-webhooks, and its folder in FORMSVC_TEST_PHP_VENDOR",
  },
];

function succeeds(folder: string, command: string, args: readonly string[], env = {}): boolean {
  const options = { cwd: folder, stdio: "ignore", env: { ...process.env, ...env } } as const;
  return spawnSync(command, args, options).status === 0;
}

function blockOf(language: string): string {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1];
  if (block === undefined) throw new Error(`docs/webhooks.md has no example in ${language}`);
  return block;
}

test.each(EXAMPLES)(
  "the receiver that docs/webhooks.md has in $language takes what is genuine and refuses the rest",
  async (example) => {
    const folder = mkdtempSync(join(tmpdir(), "formsvc-receiver-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const port = await findClosedPort();
    writeFileSync(join(folder, example.file), blockOf(example.language).replaceAll("3000", String(port)));
    if (!example.prepare(folder)) {
      process.stderr.write(`SKIPPED: the receiver in ${example.language}; ${example.missing}\n`);
      return;
    }
    const secret = newSecret();
    const receiver = start(folder, example.command(port), secret);
    const url = `http://127.0.0.1:${port}/hooks/forms`;
    await expect.poll(() => answers(url, receiver)).toBe(true);

    const message = makeMessage(secret);
    expect(await send(url, message)).toBe(204);
    expect(await send(url, { ...message, body: message.body.replace("Ada", "Eve") })).toBe(401);
    expect(await send(url, makeMessage(newSecret()))).toBe(401);
    expect(await send(url, { ...message, signature: `v1,AAAA ${message.signature}` })).toBe(204);
  },
);

interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  readonly signature: string;
}

function makeMessage(secret: string): Message {
  const now = Date.now();
  const submission = { id: "sub_1", endpointId: "ep_1", spamScore: 3 };
  const told = { ...submission, ipAddress: "192.0.2.1", userAgent: "test", createdAt: now };
  const body = Buffer.from(renderBody(told, JSON.stringify({ name: "Ada grüßt – ✓" }), "Contact", now));
  const signed = { id: "msg_1", timestamp: String(Math.floor(now / 1000)), body };
  return { ...signed, body: body.toString(), signature: signMessage(signed, [secretKey(secret)]) };
}

async function send(url: string, { id, timestamp, signature, body }: Message): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

function start(folder: string, [command = "", ...args]: readonly string[], secret: string): ChildProcess {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function answers(url: string, receiver: ChildProcess): Promise<boolean> {
  if (receiver.exitCode !== null) throw new Error(`the receiver ended with ${receiver.exitCode}`);
  return fetch(url, { method: "POST" }).then(
    () => true,
    () => false,
  );
}
