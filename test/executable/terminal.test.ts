import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  collect,
  executable,
  examplePost,
  exampleSchema,
  makeWorkplace,
  post,
  type Ran,
  type Workplace,
} from "./workplace.ts";
import { until } from "../support/until.ts";

const SYSTEM_PATH = { PATH: "/usr/bin:/bin" };
const hasScript = spawnSync("script", ["--version"]).status === 0;
if (!hasScript)
  process.stderr.write("SKIPPED: no program `script` here, so nothing is tested on a terminal\n");

/** Runs a line of shell with a terminal on all three streams, typing `typed` once `prompt` is shown. */
async function onTerminal(place: Workplace, line: string, typed = "", prompt = "[y/N]"): Promise<Ran> {
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: place.folder,
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

function shell(place: Workplace, line: string): Promise<Ran> {
  const child = spawn("bash", ["--norc", "--noprofile", "-c", line], {
    cwd: place.folder,
    env: { ...SYSTEM_PATH, F: executable },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return collect(child);
}

test("where nobody can be asked, a destructive command needs --yes and changes nothing without it", async () => {
  const place = makeWorkplace();
  const { endpointId } = await place.createEndpoint();
  for (const args of [
    ["endpoint", "delete", endpointId],
    ["submission", "delete", "sub_01h455vb4pex5vsknk084sn02q"],
  ]) {
    const ran = await place.run(args, { input: "y\n" });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain("--yes");
  }
  expect((await place.run(["endpoint", "show", endpointId])).code).toBe(0);
});

test.skipIf(!hasScript)("on a terminal the question is asked, and only yes does it", async () => {
  const place = makeWorkplace();
  const { endpointId } = await place.createEndpoint();
  const line = `${executable} endpoint delete ${endpointId}`;
  // The last two are the end of input and Ctrl-C.
  for (const no of ["n\r", "\r", "\u0004", "\u0003"]) {
    const ran = await onTerminal(place, line, no);
    expect(ran.out).toContain("all its submissions? [y/N]");
    expect({ no, code: ran.code }).toEqual({ no, code: 1 });
    expect((await place.run(["endpoint", "show", endpointId])).code).toBe(0);
  }
  expect((await onTerminal(place, line, "y\r")).code).toBe(0);
  expect((await place.run(["endpoint", "show", endpointId])).code).toBe(3);
});

test.skipIf(!hasScript)("serve logs for people on a terminal, in colour unless NO_COLOR is set", async () => {
  const place = makeWorkplace();
  const line = `${executable} serve --port 0`;
  for (const unset of ["", "env NO_COLOR= "]) {
    const coloured = await onTerminal(place, `exec ${unset}${line}`, "\u0003", "listening on");
    expect(coloured.code).toBe(0);
    expect(coloured.out).toContain("\u001b[");
  }
  const plain = await onTerminal(place, `exec env NO_COLOR=1 ${line}`, "\u0003", "listening on");
  expect(plain.out).toContain("listening on http://127.0.0.1:");
  expect(plain.out).not.toContain("\u001b[");
  expect(plain.out).not.toContain('{"level"');
});

test("a reader that stops early ends every command quietly", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  const ran = await shell(
    place,
    `set -o pipefail
     for round in 1 2 3; do
       "$F" --help | true; "$F" help endpoint create | true; "$F" endpoint lst 2>&1 | true
       "$F" config show | head -1; "$F" completion bash | head -1; "$F" endpoint list | true
     done`,
  );
  expect(ran.err).toBe("");
  expect(ran.out).toBe("{\n# formsvc completion for bash\n".repeat(3));
});

test("a complaint that nobody reads still gives its exit code", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  const ran = await shell(place, `"$F" endpoint show Nobody 2>&1 | true; echo "\${PIPESTATUS[0]}"`);
  expect(ran.out).toBe("3\n");
});

test("eval of endpoint create --env leaves the keys in the shell's variables", async () => {
  const place = makeWorkplace();
  const file = place.write("schema.json", exampleSchema);
  const ran = await shell(
    place,
    `eval "$("$F" endpoint create --name A --schema ${file} --env --quiet)"
     printf '%s %s %s' "$FORMSVC_ENDPOINT_ID" "\${FORMSVC_SECRET_KEY:0:4}" "\${FORMSVC_PUBLISHABLE_KEY:0:4}"`,
  );
  expect(ran.out).toMatch(/^ep_\w{26} fsk_ fpk_$/);
  expect(ran.err).toBe("");
});

test("completion in a real bash offers nouns, verbs, flags and choices, and files where they fit or nothing else does", async () => {
  const place = makeWorkplace();
  place.write("contact.json", "{}");
  const complete = async (...words: string[]): Promise<string[]> => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const ran = await shell(
      place,
      `eval "$("$F" completion bash)"
       complete -p formsvc >/dev/null || exit 9
       COMP_WORDS=(formsvc ${list}); COMP_CWORD=${words.length}; _formsvc
       printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    expect(ran).toMatchObject({ code: 0, err: "" });
    return ran.out.split("\n").filter(Boolean);
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
  const place = makeWorkplace();
  for (const name of ["zsh", "fish"]) {
    const { out } = await place.run(["completion", name]);
    for (const noun of [
      "init",
      "serve",
      "endpoint create",
      "submission tail",
      "--follow",
      "key issue --kind",
    ])
      expect(out).toContain(noun);
  }
});

async function editing(place: Workplace, script: string, env: Record<string, string> = {}): Promise<Ran> {
  const editor = place.write("editor.sh", `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o755);
  return place.run(["schema", "edit", "Contact"], {
    env: { ...SYSTEM_PATH, EDITOR: `${editor} --wait`, ...env },
  });
}

test("schema edit hands the schema to $EDITOR, with its arguments, and stores what comes back", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  const ran = await editing(
    place,
    `test "$1" = --wait || exit 7; cp "$2" seen.json; echo '{"a":{"type":"number"}}' > "$2"`,
  );
  expect(ran).toMatchObject({ code: 0, out: "" });
  expect(JSON.parse(readFileSync(place.path("seen.json"), "utf8"))).toEqual(exampleSchema);
  expect(await place.json(["schema", "show", "Contact"])).toEqual({ a: { type: "number" } });
  expect((await editing(place, "true")).err).toContain("nothing was changed");
  expect(await place.json(["endpoint", "show", "Contact"])).toMatchObject({
    endpoint: { schema_version: 2 },
  });
});

test("a schema that is refused after editing exits 2, changes nothing and keeps the text", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  for (const [text, code] of [
    [`{"a":{"type":"nmber"}}`, 2],
    ["{", 2],
  ] as const) {
    const ran = await editing(place, `echo '${text}' > "$2"`, { TMPDIR: place.folder });
    expect(ran.code).toBe(code);
    const kept = /(\S+schema\.json)/.exec(ran.err)?.[1];
    expect(readFileSync(kept!, "utf8")).toBe(`${text}\n`);
  }
  const failed = await editing(place, `echo x > "$2"; exit 3`, { TMPDIR: place.folder });
  expect(failed.code).toBe(1);
  expect(failed.err).toContain("exit code 3");
  expect(await place.json(["schema", "show", "Contact"])).toEqual(exampleSchema);
});

test("a schema that somebody else changed during the editing is not overwritten, and the text is kept", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  const meanwhile = place.write("meanwhile.json", { other: { type: "boolean" } });
  const ran = await editing(
    place,
    `${executable} schema set Contact ${meanwhile} --quiet; echo '{"mine":{"type":"string"}}' > "$2"`,
    { TMPDIR: place.folder },
  );
  expect(ran.code).toBe(1);
  expect(ran.err).toContain("changed by somebody else");
  const kept = /(\S+schema\.json)/.exec(ran.err)?.[1];
  expect(readFileSync(kept!, "utf8")).toContain("mine");
  expect(await place.json(["schema", "show", "Contact"])).toEqual({ other: { type: "boolean" } });
});

test("schema edit without an editor or a folder for the text says what to do", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  const none = await place.run(["schema", "edit", "Contact"]);
  expect(none).toMatchObject({ code: 2 });
  expect(none.err).toContain("formsvc schema set");
  const missing = await editing(place, "true", { TMPDIR: place.path("missing") });
  expect(missing.code).toBe(1);
  expect(missing.err).toContain("TMPDIR");
});

test("schema edit leaves no file behind once the schema is stored", async () => {
  const place = makeWorkplace();
  await place.createEndpoint();
  await editing(place, `echo '{"b":{"type":"string"}}' > "$2"`, { TMPDIR: place.folder });
  expect(readdirSync(place.folder).filter((name) => name.startsWith("formsvc-"))).toEqual([]);
  expect(existsSync(place.database)).toBe(true);
});

test("who is shown a secret once, or erases a person's data, learns it when standard output takes nothing", async () => {
  const place = makeWorkplace();
  const { endpointId, secret } = await place.createEndpoint();
  const issue = await shell(place, `"$F" key issue ${endpointId} --kind secret > /dev/full; echo $?`);
  expect(issue.out).toBe("1\n");
  expect(issue.err).toMatch(
    /cannot be written \(ENOSPC.*; the key key_\w+ works already and was shown to nobody/,
  );
  const server = await place.serve([], { env: { FORMSVC_RATE_LIMIT_SECRET_MAX: "null" } });
  for (let index = 0; index < 3; index += 1)
    expect((await post(server.url, secret, { ...examplePost, message: "x".repeat(50_000) })).status).toBe(
      200,
    );
  const find = '"$F" submission find --field email=ada@example.com --json';
  const erase = await shell(place, `${find} --erase --yes | head -c 1; echo "\${PIPESTATUS[0]}"`);
  expect(erase).toMatchObject({ out: "{1\n", err: expect.stringContaining("nothing was erased") as unknown });
  expect(((await shell(place, find)).out.match(/"id"/g) ?? []).length).toBe(3);
  expect((await shell(place, `${find} --erase --yes > /dev/null; echo $?`)).out).toBe("0\n");
  expect((await shell(place, `${find} | grep -c '"id"'`)).out).toBe("0\n");
});
