import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exampleSchema } from "../support/example-schema.ts";
import { emptyMachine } from "../support/operator-machine.ts";
import { examplePost, post, tryPost } from "../support/posts.ts";
import { FORMSVC, hasScript, inShell, onTerminal } from "../support/shell.ts";

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
  const line = `${FORMSVC} endpoint delete ${endpointId}`;
  // The last two are the end of input and Ctrl-C.
  for (const no of ["n\r", "\r", "\u0004", "\u0003"]) {
    const ran = await onTerminal(machine, line, no);
    expect(ran.stdout).toContain("all its submissions? [y/N]");
    expect(ran.stdout).toMatch(/^formsvc: nothing was changed/m);
    expect({ no, code: ran.code }).toEqual({ no, code: 1 });
    expect((await machine.run(["endpoint", "show", endpointId])).code).toBe(0);
  }
  expect((await onTerminal(machine, line, "y\r")).code).toBe(0);
  expect((await machine.run(["endpoint", "show", endpointId])).code).toBe(3);
});

test("a reader that stops early ends every command quietly", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const ran = await inShell(
    machine,
    `set -o pipefail
     for round in 1 2 3; do
       formsvc --help | true; formsvc help endpoint create | true; formsvc endpoint lst 2>&1 | true
       formsvc config show | head -1; formsvc completion bash | head -1; formsvc endpoint list | true
     done`,
  );
  expect(ran.stderr).toBe("");
  expect(ran.stdout).toBe("{\n# formsvc completion for bash\n".repeat(3));
});

test("a complaint that nobody reads still gives its exit code", async () => {
  const machine = emptyMachine();
  await machine.createEndpoint();
  const ran = await inShell(machine, `formsvc endpoint show Nobody 2>&1 | true; echo "\${PIPESTATUS[0]}"`);
  expect(ran.stdout).toBe("3\n");
});

test("eval of endpoint create --env leaves the keys in the shell's variables", async () => {
  const machine = emptyMachine();
  const file = machine.write("schema.json", exampleSchema);
  const ran = await inShell(
    machine,
    `eval "$(formsvc endpoint create --name A --schema ${file} --env --quiet)"
     printf '%s %s %s' "$FORMSVC_ENDPOINT_ID" "\${FORMSVC_SECRET_KEY:0:4}" "\${FORMSVC_PUBLISHABLE_KEY:0:4}"`,
  );
  expect(ran.stdout).toMatch(/^ep_\w{26} fsk_ fpk_$/);
  expect(ran.stderr).toBe("");
});

test("completion in a real bash offers nouns, verbs, flags and choices, and files if they fit or nothing else does", async () => {
  const machine = emptyMachine();
  machine.write("contact.json", "{}");
  const all = (...some: string[]): unknown => expect.arrayContaining(some);
  // The words after the program's, the last of which is being written.
  const cases: [string, unknown][] = [
    ["", all("serve", "endpoint", "submission", "completion")],
    ["end", ["endpoint"]],
    ["endpoint re", ["rename", "resume"]],
    ["endpoint create --sch", ["--schema"]],
    ["serve --p", ["--port"]],
    ["submission list --endpoint X --un", ["--until"]],
    ["schema check cont", ["contact.json"]],
    ["backup ", all("contact.json")],
    ["restore ", all("contact.json")],
    ["schema check ", all("contact.json")],
    ["submission import ", all("contact.json")],
    ["restore --y", ["--yes"]],
    ["submission list --class ", ["low", "medium", "high"]],
    ["key issue X --kind p", ["publishable"]],
    ["completion ", all("bash", "zsh", "fish")],
    ["help", ["help"]],
    ["help sub", ["submission"]],
  ];
  const asked = cases.map(([line]) => {
    const words = line.split(" ");
    const list = words.map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(formsvc ${list}); COMP_CWORD=${words.length}; COMPREPLY=(); _formsvc
      printf '%s\\n' "\${COMPREPLY[@]}" "END"`;
  });
  const ran = await inShell(
    machine,
    `eval "$(formsvc completion bash)"
     complete -p formsvc >/dev/null || exit 9
     ${asked.join("\n")}`,
  );
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const offered = ran.stdout.split("END\n").slice(0, -1);
  expect(offered.map((text, index) => [cases[index]?.[0], text.split("\n").filter(Boolean)])).toEqual(cases);
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

test("who is shown a secret once, or erases a person's data, learns it when standard output takes nothing", async () => {
  const machine = emptyMachine();
  const { id: endpointId, secret } = await machine.createEndpoint();
  const issue = await inShell(machine, `formsvc key issue ${endpointId} --kind secret > /dev/full; echo $?`);
  expect(issue.stdout).toBe("1\n");
  expect(issue.stderr).toMatch(
    /cannot be written \(ENOSPC.*; the key key_\w+ works already and was shown to nobody/,
  );
  const server = await machine.serveHere();
  for (let index = 0; index < 3; index += 1)
    expect((await tryPost(server.url, secret, { ...examplePost, message: "x".repeat(50_000) })).status).toBe(
      200,
    );
  const find = "formsvc submission find --field email=ada@example.org --json";
  const erase = await inShell(machine, `${find} --erase --yes | head -c 1; echo "\${PIPESTATUS[0]}"`);
  expect(erase).toMatchObject({
    stdout: "{1\n",
    stderr: expect.stringContaining("nothing was erased") as unknown,
  });
  expect(((await inShell(machine, find)).stdout.match(/"id"/g) ?? []).length).toBe(3);
  expect((await inShell(machine, `${find} --erase --yes > /dev/null; echo $?`)).stdout).toBe("0\n");
  expect((await inShell(machine, `${find} | grep -c '"id"'`)).stdout).toBe("0\n");
});

test.skipIf(!hasScript)(
  "docs shows a long page with the pager on a terminal, and without one as it is",
  async () => {
    const machine = emptyMachine();
    const shown = "cat > shown; echo 'the pager ran'";
    const paged = await onTerminal(machine, `stty rows 24; PAGER="${shown}" ${FORMSVC} docs webhooks`);
    expect(paged.stdout).toBe("the pager ran\r\n");
    const page = readFileSync(`${machine.folder}/shown`, "utf8");
    expect(page).toMatch(/^# Webhooks\n/);

    // One that ends without reading, one that is not there, none, and a page that fits the screen.
    const left = await onTerminal(machine, `stty rows 24; PAGER=true ${FORMSVC} docs commands`);
    expect(left).toMatchObject({ code: 0, stdout: "" });
    const missing = await onTerminal(machine, `stty rows 24; PAGER=no-such-pager ${FORMSVC} docs webhooks`);
    expect(missing.code).toBe(0);
    expect(missing.stdout.replaceAll("\r", "")).toContain(page);
    for (const line of ["stty rows 24; PAGER=", "stty rows 9999; PAGER=false"]) {
      const plain = await onTerminal(machine, `${line} ${FORMSVC} docs webhooks`);
      expect(plain.stdout.replaceAll("\r", "")).toBe(page);
    }
    const piped = await machine.run(["docs", "webhooks"]);
    expect(piped.stdout).toBe(page);
  },
);

test("a key that is shown once and finds standard output closed ends with 1 and says what to do; output that is dropped is as asked for", async () => {
  const machine = emptyMachine();
  machine.write("schema.json", exampleSchema);
  const create = (name: string, output: string) =>
    inShell(machine, `formsvc endpoint create --name ${name} --schema schema.json ${output}; echo $? >&2`);
  const closed = await create("Closed", ">&-");
  expect(closed.stderr).toMatch(/standard output is closed; the endpoint ep_\w+ is there.*\n1\n$/);
  expect((await create("Dropped", "> /dev/null")).stderr).toMatch(/0\n$/);
  expect((await create("Both", "<&- > /dev/null")).stderr).toMatch(/0\n$/);
  expect((await inShell(machine, "formsvc endpoint list >&-; echo $? >&2")).stderr).toMatch(/0\n$/);
});

test("a form that was deleted comes back from a backup with its posts, by the lines of the docs as they stand there", async () => {
  const machine = emptyMachine();
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret);
  await server.stop();
  await machine.mustRun(["backup", "copy.db"]);
  await machine.mustRun(["endpoint", "delete", endpoint.id, "--yes"]);
  const docs = readFileSync(new URL("../../docs/backup.md", import.meta.url), "utf8");
  const [, lines = ""] = /^### One form that was deleted$[^`]*```sh\n([^`]*)```/m.exec(docs) ?? [];
  const ran = await inShell(
    machine,
    `set -e\n${lines.replace("/var/backups/formsvc-2026-01-31.db", "copy.db")}`,
  );
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining("1 submission added, 0 were there")]);
  expect(ran.stdout).toMatch(/^FORM_CONTACT_PUBLISHABLE_KEY='?fpk_/m);
  expect(await machine.mustRun(["submission", "list"])).toMatchObject({ code: 0 });
});
