import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exampleSchema } from "../support/example-schema.ts";
import { emptyMachine, type OperatorMachine } from "../support/operator-machine.ts";
import type { Ran } from "../support/program.ts";
import { FORMSVC } from "../support/shell.ts";

async function editing(
  machine: OperatorMachine,
  script: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const editor = machine.write("editor.sh", `#!/bin/sh\n${script}\n`);
  chmodSync(editor, 0o755);
  return machine.run(["schema", "edit", "Contact"], {
    env: { PATH: "/usr/bin:/bin", EDITOR: `${editor} --wait`, ...env },
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
    `${FORMSVC} schema set Contact ${meanwhile} --quiet; echo '{"mine":{"type":"string"}}' > "$2"`,
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
