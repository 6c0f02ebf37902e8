import type { ByteSource } from "../../files/byte-source.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import type { FileField } from "../../schemas/field-definition.ts";
import type { FileFacts, PostedFile } from "../../schemas/posted-file.ts";
import type { CompiledSchema } from "../../schemas/compile-schema.ts";
import { type FormEntry, coerceForm } from "./coerce-form.ts";
import type { JsonObject } from "./parse-body.ts";

/** A file of a post whose bytes wait to be stored. */
export interface IncomingFile {
  /** The name of the field, whether the form declares it or not. */
  readonly field: string;
  /** The facts for the field; null if the form had no such file field when the file was read. */
  readonly posted: PostedFile | null;
  /** The name that the client sent. */
  readonly name: string;
  readonly size: number;
  readonly source: ByteSource;
}

/**
 * Combines the inputs and files of a form into one body. A file field gets a list of files. A file for any other field becomes a text with
 * its name and size.
 */
export function coerceUpload(
  entries: readonly FormEntry[],
  files: readonly IncomingFile[],
  definition: SchemaDefinition,
): JsonObject {
  const body = coerceForm(entries, definition);
  for (const { field, posted, name, size } of files) {
    if (field === "__proto__") continue;
    const isDeclared = Object.hasOwn(definition, field) && definition[field]?.type === "file";
    const value = isDeclared && posted !== null ? posted : `${name} (${size} bytes, not kept)`;
    const others = Object.hasOwn(body, field) ? body[field] : undefined;
    if (isDeclared)
      body[field] = [
        ...(Array.isArray(others) ? (others as unknown[]) : others === undefined ? [] : [others]),
        value,
      ];
    else body[field] = others === undefined ? value : [others, value].flat();
  }
  return body;
}

/** The data without its files, for code that works on texts. */
export function withoutFiles(
  data: Readonly<Record<string, unknown>>,
  fileFields: ReadonlyMap<string, FileField>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !fileFields.has(name)));
}

/** The data of a post whose files are not kept: each file keeps its name and size, and is marked as deleted. */
export function withLostFiles(
  data: Readonly<Record<string, unknown>>,
  fileFields: ReadonlyMap<string, FileField>,
): Record<string, unknown> {
  const lost = (facts: FileFacts): FileFacts => ({ ...facts, state: "deleted" });
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      fileFields.has(name) && Array.isArray(value) ? (value as FileFacts[]).map(lost) : value,
    ]),
  );
}

/** The files that the form has a field for. */
export function acceptedFiles(
  files: readonly IncomingFile[],
  { fileFields }: Pick<CompiledSchema, "fileFields">,
): readonly AcceptedFile[] {
  return files.flatMap(({ field, posted, source }) =>
    posted === null || fileFields?.has(field) !== true ? [] : [{ facts: posted.facts, source }],
  );
}

/** A file of an accepted post. */
export interface AcceptedFile {
  readonly facts: FileFacts;
  readonly source: ByteSource;
}
