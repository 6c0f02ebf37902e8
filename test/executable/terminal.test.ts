import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exampleSchema } from "../../src/schemas/example-schema.ts";
import { type OperatorMachine, emptyMachine } from "../support/operator-machine.ts";
import { examplePost, tryPost } from "../support/posts.ts";
import { type Ran, collect, executable } from "../support/program.ts";
import { until } from "../support/until.ts";

const SYSTEM_PATH = { PATH: "/usr/bin:/bin" };
const hasScript = spawnSync("script", ["--version"]).status === 0;
if (!hasScript)
  process.stderr.write("SKIPPED: no program `script` here, so nothing is tested on a terminal\n");

/** Runs a line of shell with a terminal on all three streams, typing `typed` once `prompt` is shown. */
async function onTerminal(
  machine: OperatorMachine,
  line: string,
  typed = "",
  prompt = "[y/N]",
): Promise<Ran> {
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: machine.folder,
    env: { ...SYSTEM_PATH, SHELL: "/bin/sh", TERM: "xterm" },
  });
  const ended = collect(child);
  let shown = "";
  child.stdout.on("data", (text: string) => (shown += text));
  if (typed !== "") {
    await until(() => shown.includes(prompt));
    child.stdin.write(typed);
  }
  const ran = await ended;
  child.stdin.end();
  return ran;
}

function shell(machine: OperatorMachine, line: string): Promise<Ran> {
  const child = spawn("bash", ["--norc", "--noprofile", "-c", line], {
    cwd: machine.folder,
    env: { ...SYSTEM_PATH, F: executable },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return collect(child);
}

test("if nobody can be asked, a destructive command needs --yes and changes nothing without it", async () => {
  const machine = emptyMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const { endpoint } = await machine.json<{ endpoint: { workspace_id: string } }>([
    "endpoint",
    "show",
    endpointId,
  ]);
  for (const args of [
    ["endpoint", "delete", endpointId],
    ["workspace", "delete", endpoint.workspace_id],
  ]) {
    const ran = await machine.run(args, { input: "y\n" });
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("--yes");
  }
  expect((await machine.run(["endpoint", "show", endpointId])).code).toBe(0);
});

test.skipIf(!hasScript)("on a terminal the question is asked, and only yes does it", async () => {
  const machine = emptyMachine();
  const { id: endpointId } = await machine.createEndpoint();
  const line = `${executable} endpoint delete ${endpointId}`;
  // The last two are the end of input and Ctrl-C.
  for (const no of ["n\r", "\r", "\u0004", "\u0003"]) {
    const ran = await onTerminal(machine, line, no);
    expect(ran.stdout).toContain("all its submissions? [y/N]");
    expect({ no, code: ran.code }).toEqual({ no, code: 1 });
    expect((await machine.run(["endpoint", "show", endpointId])).code).toBe(0);
  }
  expect((await onTerminal(machine, line, "y\r")).code).toBe(0);
  expect((await machine.run(["endpoint", "show", endpointId])).code).toBe(3);
});

test.skipIf(!hasScript)("serve logs for people on a terminal, in colour unless NO_COLOR is set", async () => {
  const machine = emptyMachine();
  const line = `${executable} serve --port 0`;
  for (const unset of ["", "env NO_COLOR= "]) {
    const coloured = await onTerminal(machine, `exec ${unset}${line}`, "\u0003", "listening on");
    expect(coloured.code).toBe(0);
    expect(coloured.stdout).toContain("\u001b[");
  }
  const plain = await onTerminal(machine, `exec env NO_COLOR=1 ${line}`, "\u0003", "listening on");
  expect(plain.stdout).toContain("listening on http://127.0.0.1:");
  expect(plain.stdout).not.toContain("\u001b[");
  expect(plain.stdout).not.toContain('{"level"');
});

test("a reader that stops early ends every command quietly", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const ran = await shell(
    machine,
    `set -o pipefail
     for round in 1 2 3; do
       "$F" --help | true; "$F" help endpoint create | true; "$F" endpoint lst 2>&1 | true
       "$F" config show | head -1; "$F" completion bash | head -1; "$F" endpoint list | true
     done`,
  );
  expect(ran.stderr).toBe("");
  expect(ran.stdout).toBe("{\n# formsvc completion for bash\n".repeat(3));
});

test("a complaint that nobody reads still gives its exit code", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const ran = await shell(machine, `"$F" endpoint show Nobody 2>&1 | true; echo "\${PIPESTATUS[0]}"`);
  expect(ran.stdout).toBe("3\n");
});

test("eval of endpoint create --env leaves the keys in the shell's variables", async () => {
  const machine = emptyMachine();
  const file = machine.write("schema.json", exampleSchema);
  const ran = await shell(
    machine,
    `eval "$("$F" endpoint create --name A --schema ${file} --env --quiet)"
     printf '%s %s %s' "$FORMSVC_ENDPOINT_ID" "\${FORMSVC_SECRET_KEY:0:4}" "\${FORMSVC_PUBLISHABLE_KEY:0:4}"`,
  );
  expect(ran.stdout).toMatch(/^ep_\w{26} fsk_ fpk_$/);
  expect(ran.stderr).toBe("");
});

test("completion in a real bash offers nouns, verbs, flags and choices, and files if they fit or nothing else does", async () => {
  const machine = emptyMachine();
  machine.write("contact.json", "{}");
  const complete = async (...words: string[]): Promise<string[]> => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const ran = await shell(
      machine,
      `eval "$("$F" completion bash)"
       complete -p formsvc >/dev/null || exit 9
       COMP_WORDS=(formsvc ${list}); COMP_CWORD=${words.length}; _formsvc
       printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    return ran.stdout.split("\n").filter(Boolean);
  };
  expect(await complete("")).toEqual(
    expect.arrayContaining(["serve", "endpoint", "submission", "completion"]),
  );
  expect(await complete("end")).toEqual(["endpoint"]);
  expect(await complete("endpoint", "re")).toEqual(["rename", "resume"]);
  expect(await complete("endpoint", "create", "--sch")).toEqual(["--schema"]);
  expect(await complete("serve", "--p")).toEqual(["--port"]);
  expect(await complete("submission", "list", "--endpoint", "X", "--un")).toEqual(["--until"]);
  expect(await complete("schema", "check", "cont")).toEqual(["contact.json"]);
  for (const command of [["backup"], ["restore"], ["schema", "check"], ["submission", "import"]])
    expect(await complete(...command, ""), command.join(" ")).toContain("contact.json");
  expect(await complete("restore", "--y")).toEqual(["--yes"]);
  expect(await complete("submission", "list", "--class", "")).toEqual(["low", "medium", "high"]);
  expect(await complete("key", "issue", "X", "--kind", "p")).toEqual(["publishable"]);
  expect(await complete("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish"]));
  expect(await complete("help")).toEqual(["help"]);
  expect(await complete("help", "sub")).toEqual(["submission"]);
});

test("the scripts for zsh and fish name every noun", async () => {
  const machine = emptyMachine();
  for (const name of ["zsh", "fish"]) {
    const { stdout } = await machine.run(["completion", name]);
    for (const noun of [
      "init",
      "serve",
      "endpoint create",
      "submission tail",
      "--follow",
      "key issue --kind",
    ])
      expect(stdout).toContain(noun);
  }
});

async function editing(
  machine: OperatorMachine,
  script: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const editor = machine.write("editor.sh", `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o755);
  return machine.run(["schema", "edit", "Contact"], {
    env: { ...SYSTEM_PATH, EDITOR: `${editor} --wait`, ...env },
  });
}

test("schema edit hands the schema to $EDITOR, with its arguments, and stores what comes back", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const ran = await editing(
    machine,
    `test "$1" = --wait || exit 7; cp "$2" seen.json; echo '{"a":{"type":"number"}}' > "$2"`,
  );
  expect(ran).toMatchObject({ code: 0, stdout: "" });
  expect(JSON.parse(readFileSync(machine.path("seen.json"), "utf8"))).toEqual(exampleSchema);
  expect(await machine.json(["schema", "show", "Contact"])).toEqual({ a: { type: "number" } });
  expect((await editing(machine, "true")).stderr).toContain("nothing was changed");
  expect(await machine.json(["endpoint", "show", "Contact"])).toMatchObject({
    endpoint: { schema_version: 2 },
  });
});

test("a schema that is refused after editing exits 2, changes nothing and keeps the text", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  for (const [text, code] of [
    [`{"a":{"type":"nmber"}}`, 2],
    ["{", 2],
  ] as const) {
    const ran = await editing(machine, `echo '${text}' > "$2"`, { TMPDIR: machine.folder });
    expect(ran.code).toBe(code);
    const kept = /(\S+schema\.json)/.exec(ran.stderr)?.[1];
    expect(readFileSync(kept!, "utf8")).toBe(`${text}\n`);
  }
  const failed = await editing(machine, `echo x > "$2"; exit 3`, { TMPDIR: machine.folder });
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("exit code 3");
  expect(await machine.json(["schema", "show", "Contact"])).toEqual(exampleSchema);
});

test("a schema that somebody else changed during the editing is not overwritten, and the text is kept", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const meanwhile = machine.write("meanwhile.json", { other: { type: "boolean" } });
  const ran = await editing(
    machine,
    `${executable} schema set Contact ${meanwhile} --quiet; echo '{"mine":{"type":"string"}}' > "$2"`,
    { TMPDIR: machine.folder },
  );
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("changed by somebody else");
  const kept = /(\S+schema\.json)/.exec(ran.stderr)?.[1];
  expect(readFileSync(kept!, "utf8")).toContain("mine");
  expect(await machine.json(["schema", "show", "Contact"])).toEqual({ other: { type: "boolean" } });
});

test("schema edit without an editor or a folder for the text says what to do", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const none = await machine.run(["schema", "edit", "Contact"]);
  expect(none).toMatchObject({ code: 2 });
  expect(none.stderr).toContain("formsvc schema set");
  const missing = await editing(machine, "true", { TMPDIR: machine.path("missing") });
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain("TMPDIR");
});

test("schema edit leaves no file behind once the schema is stored", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  await editing(machine, `echo '{"b":{"type":"string"}}' > "$2"`, { TMPDIR: machine.folder });
  expect(readdirSync(machine.folder).filter((name) => name.startsWith("formsvc-"))).toEqual([]);
  expect(existsSync(machine.database)).toBe(true);
});

test("who is shown a secret once, or erases a person's data, learns it when standard output takes nothing", async () => {
  const machine = emptyMachine();
  const { id: endpointId, secret } = await machine.createEndpoint();
  const issue = await shell(machine, `"$F" key issue ${endpointId} --kind secret > /dev/full; echo $?`);
  expect(issue.stdout).toBe("1\n");
  expect(issue.stderr).toMatch(
    /cannot be written \(ENOSPC.*; the key key_\w+ works already and was shown to nobody/,
  );
  const server = await machine.serve({ env: { FORMSVC_RATE_LIMIT_SECRET_MAX: "null" } });
  for (let index = 0; index < 3; index += 1)
    expect((await tryPost(server.url, secret, { ...examplePost, message: "x".repeat(50_000) })).status).toBe(
      200,
    );
  const find = '"$F" submission find --field email=ada@example.org --json';
  const erase = await shell(machine, `${find} --erase --yes | head -c 1; echo "\${PIPESTATUS[0]}"`);
  expect(erase).toMatchObject({
    stdout: "{1\n",
    stderr: expect.stringContaining("nothing was erased") as unknown,
  });
  expect(((await shell(machine, find)).stdout.match(/"id"/g) ?? []).length).toBe(3);
  expect((await shell(machine, `${find} --erase --yes > /dev/null; echo $?`)).stdout).toBe("0\n");
  expect((await shell(machine, `${find} | grep -c '"id"'`)).stdout).toBe("0\n");
});

/** Serves on a terminal until the text is shown and then for a moment, or until the time is over. What was shown. */
async function serveOnTerminal(machine: OperatorMachine, redirect = ""): Promise<string> {
  const line = `exec ${executable} serve --port 0 ${redirect}`;
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: machine.folder,
    env: { ...SYSTEM_PATH, SHELL: "/bin/sh", TERM: "xterm" },
  });
  let shown = "";
  child.stdout.on("data", (text: Buffer) => (shown += text.toString("utf8")));
  const log = machine.path("log");
  const logged = (): string => (existsSync(log) ? readFileSync(log, "utf8") : "");
  await until(() => (redirect === "" ? shown : logged()).includes("listening on"));
  // Ctrl-C is taken when what follows the start has been printed.
  child.stdin.write("\u0003");
  await collect(child);
  return shown;
}

const LINK = /http:\/\/127\.0\.0\.1:\d+\/dashboard\/sign-in#\S+/g;

test.skipIf(!hasScript)(
  "on a terminal, a server whose dashboard nobody can sign in to prints one link, and a log that goes elsewhere never has it",
  async () => {
    const machine = emptyMachine();
    const shown = await serveOnTerminal(machine);
    expect(shown.match(LINK)).toHaveLength(1);
    expect(shown).toContain("sets the password of owner@localhost");
    expect((await machine.mustRun(["account", "list"])).stdout).toContain("owner@localhost");
    expect(await serveOnTerminal(machine, "> log")).not.toContain("sign-in#");
    expect(readFileSync(machine.path("log"), "utf8")).toContain("dashboard.no-password");
    expect(readFileSync(machine.path("log"), "utf8")).not.toContain("sign-in#");
    const database = machine.open();
    const [account] = database.prepare("SELECT id FROM account").all() as { id: string }[];
    database
      .prepare("INSERT INTO credential (account_id, password_hash, changed_at) VALUES (?, 'x', 1)")
      .run(account?.id);
    database.close();
    expect(await serveOnTerminal(machine)).not.toContain("sign-in#");
  },
);

test.skipIf(!hasScript)(
  "docs shows a long page with the pager on a terminal, and without one as it is",
  async () => {
    const machine = emptyMachine();
    const shown = "cat > shown; echo 'the pager ran'";
    const paged = await onTerminal(machine, `stty rows 24; PAGER="${shown}" ${executable} docs webhooks`);
    expect(paged.stdout).toBe("the pager ran\r\n");
    const page = readFileSync(`${machine.folder}/shown`, "utf8");
    expect(page).toMatch(/^# Webhooks\n/);

    // One that ends without reading, one that is not there, none, and a page that fits the screen.
    const left = await onTerminal(machine, `stty rows 24; PAGER=true ${executable} docs commands`);
    expect(left).toMatchObject({ code: 0, stdout: "" });
    const missing = await onTerminal(
      machine,
      `stty rows 24; PAGER=no-such-pager ${executable} docs webhooks`,
    );
    expect(missing.code).toBe(0);
    expect(missing.stdout.replaceAll("\r", "")).toContain(page);
    for (const line of ["stty rows 24; PAGER=", "stty rows 9999; PAGER=false"]) {
      const plain = await onTerminal(machine, `${line} ${executable} docs webhooks`);
      expect(plain.stdout.replaceAll("\r", "")).toBe(page);
    }
    const piped = await machine.run(["docs", "webhooks"]);
    expect(piped.stdout).toBe(page);
  },
);
