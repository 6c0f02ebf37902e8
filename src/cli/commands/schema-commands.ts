import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import type { z } from "zod";
import { showEndpoint } from "../../endpoints/endpoint-operations.ts";
import { setSchema, showSchema } from "../../endpoints/schema-operations.ts";
import { countOf } from "../../foundation/count-of.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { plainText } from "../../foundation/plain-text.ts";
import { parseDefinition, type SchemaDefinition } from "../../schemas/definition.ts";
import { type FormSchema, jsonSchemaOf } from "../../schemas/json-schema.ts";
import { typescriptTypes } from "../../schemas/typescript-types.ts";
import { parseJson, readInput } from "../flags/arguments.ts";
import { addNoun, command, type CommandContext } from "../command.ts";
import { operate } from "../operate.ts";
import type { Terminal } from "../output/terminal.ts";

export function register(program: Command): void {
  addNoun(program, "schema", "The fields that an endpoint takes", [
    show,
    check,
    set,
    edit,
    types,
    jsonSchema,
  ]);
}

/** @param file `-` means standard input @throws usage, schema_invalid */
export function readDefinition(file: string): SchemaDefinition {
  return parseNamed(readInput(file), file === "-" ? "standard input" : file);
}

const show = command({
  usage: "show <endpoint>",
  summary: "Print the schema as JSON",
  examples: ["formsvc schema show Contact > contact.json"],
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) =>
      context.output.json(await perform(showSchema, { endpoint: reference })),
    ),
});

const types = command({
  usage: "types <endpoint>",
  summary: "Print TypeScript types of a form's data",
  notes:
    "NAMEInput is what a page may send, NAMEData what is stored: a field with a default is always there.",
  examples: ["formsvc schema types Contact > contact.ts"],
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) => {
      const { endpoint } = await perform(showEndpoint, { endpoint: reference });
      const written = typescriptTypes(formSchemaOf(endpoint));
      if (!context.output.isJson) return context.output.text(written);
      return context.output.json({
        endpoint_id: endpoint.id,
        schema_version: endpoint.schema_version,
        types: written,
      });
    }),
});

const jsonSchema = command({
  usage: "json-schema <endpoint>",
  summary: "Print JSON Schema 2020-12 of what a form takes as JSON",
  examples: ["formsvc schema json-schema Contact > contact.schema.json"],
  action: (context, _options, [reference]) =>
    operate(context, async ({ perform }) => {
      const { endpoint } = await perform(showEndpoint, { endpoint: reference });
      context.output.json(jsonSchemaOf(formSchemaOf(endpoint)));
    }),
});

type ShownEndpoint = z.output<(typeof showEndpoint)["output"]>["endpoint"];

function formSchemaOf({ name, schema, schema_version: version, unknown_fields }: ShownEndpoint): FormSchema {
  return { name, version, fields: parseDefinition(schema), unknownFields: unknown_fields };
}

const check = command({
  usage: "check <file>",
  isLocal: true,
  summary: "Check a schema without storing it; - reads standard input",
  action: (context, _options, [file]) => {
    const definition = readDefinition(file);
    const fields = Object.keys(definition);
    if (context.output.isJson) return context.output.json({ valid: true, fields });
    return context.output.note(`the schema is valid: ${countOf(fields.length, "field")}`);
  },
});

const set = command({
  usage: "set <endpoint> <file>",
  summary: "Replace an endpoint's schema; - reads standard input",
  examples: ["formsvc schema set Contact contact.json"],
  action: (context, _options, [reference, file]) => {
    const schema = readDefinition(file);
    return operate(context, (terminal) => store(context, terminal, { endpoint: reference, schema }));
  },
});

const edit = command({
  usage: "edit <endpoint>",
  isLocal: true,
  summary: "Edit an endpoint's schema with $EDITOR",
  action: (context, _options, [reference]) =>
    operate(context, async (terminal) => {
      const { endpoint } = await terminal.perform(showEndpoint, { endpoint: reference });
      const { id, schema_version: version } = endpoint;
      const before = `${JSON.stringify(endpoint.schema, null, 2)}\n`;
      const after = editText(before);
      if (after.text === before) {
        after.discard();
        if (context.output.isJson) return context.output.json({ endpoint_id: id, schema_version: version });
        return context.output.note("nothing was changed");
      }
      const source = `${after.file} (your text is kept there)`;
      const definition = parseNamed(after.text, source);
      try {
        await store(context, terminal, { endpoint: id, schema: definition, based_on: version });
      } catch (error) {
        throw naming(source, error);
      }
      return after.discard();
    }),
});

function parseNamed(content: string, source: string): SchemaDefinition {
  const json = parseJson(content, source);
  try {
    return parseDefinition(json);
  } catch (error) {
    throw naming(source, error);
  }
}

/** The same error, with the name of the source in each line. */
function naming(source: string, error: unknown): unknown {
  if (!(error instanceof FormsvcError)) return error;
  const message = error.message.replaceAll(/^/gm, `${source}: `);
  return new FormsvcError(error.code, message, { ...error.facts, cause: error });
}

async function store(
  { output }: CommandContext,
  { perform }: Terminal,
  input: z.input<(typeof setSchema)["input"]>,
): Promise<void> {
  const stored = await perform(setSchema, input);
  if (output.isJson) return output.json(stored);
  const { endpoint_id: id, schema_version: version, lost_fields: lost = [] } = stored;
  output.note(`${id} checks posts with version ${version} of its schema from now on`);
  for (const { recipient_id: recipient, kind, fields } of lost) {
    const names = plainText(fields.map((field) => JSON.stringify(field)).join(", "));
    output.note(
      kind === "autoreply"
        ? `its automatic reply is sent to nobody now: ${names} is no field of format email any more`
        : `${recipient}: its condition on ${names} counts as met now, because the form has no such field any more`,
    );
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "formsvc-schema-"));
  } catch (error) {
    const why = `${tmpdir()}: no file can be made there; set TMPDIR to a writable folder`;
    throw new FormsvcError("failed", why, { cause: error });
  }
}

/** Opens the text in the person's editor as a private file, which stays until it is discarded. */
function editText(before: string): { text: string; file: string; discard: () => void } {
  const editor = process.env["VISUAL"] || process.env["EDITOR"];
  if (!editor)
    throw new FormsvcError("usage", "EDITOR is not set; set it, or use: formsvc schema set ENDPOINT FILE");
  const folder = makeFolder();
  const file = join(folder, "schema.json");
  writeFileSync(file, before, { mode: 0o600 });
  // EDITOR may hold arguments, as in "code --wait", so a shell splits it. The file's name is passed separately.
  const { status, error } = spawnSync("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  if (error !== undefined || status !== 0) {
    throw new FormsvcError(
      "failed",
      `the editor failed (${error?.message ?? `exit code ${status}`}); nothing was changed; your text is in ${file}`,
    );
  }
  return {
    text: readFileSync(file, "utf8"),
    file,
    discard: () => rmSync(folder, { recursive: true, force: true }),
  };
}
