import {
  compileMembers,
  MAX_UNKNOWN_NAMED,
  readMembers,
  shortName,
  unknownNames,
  type UnknownFields,
} from "./compile-field.ts";
import { copyJson } from "./copy-json.ts";
import type { SchemaDefinition } from "./definition.ts";
import type { FileField } from "./field-definition.ts";
import { IssueReport, type ValidationDetails } from "./issue-report.ts";
import { compileCollect, type SetAside } from "./set-aside.ts";

export type { UnknownFields } from "./compile-field.ts";

export type ValidationResult =
  | {
      readonly ok: true;
      readonly data: Record<string, unknown>;
      /** Null if nothing was set aside. */
      readonly setAside: SetAside | null;
    }
  | { readonly ok: false; readonly details: ValidationDetails };

export interface CompiledSchema {
  readonly definition: SchemaDefinition;
  /** The file fields by name; null if the form has none, as nearly every form. */
  readonly fileFields: ReadonlyMap<string, FileField> | null;
  /**
   * Checks a body. `data` has the declared fields in the order of the schema, then undeclared ones that are kept. It shares no object with
   * `body`. Members named `__proto__` are left out at every depth.
   */
  validate(body: Readonly<Record<string, unknown>>): ValidationResult;
}

/** Compiles the validator of a checked definition. Its `validate` compiles nothing and throws nothing. */
export function compileSchema(definition: SchemaDefinition, unknownFields: UnknownFields): CompiledSchema {
  const members = compileMembers(definition, unknownFields);
  const collect = unknownFields === "set-aside" ? compileCollect(definition) : null;
  return {
    definition,
    fileFields: fileFieldsOf(definition),
    validate(body) {
      const report = new IssueReport(null, definition);
      const data: Record<string, unknown> = {};
      readMembers(members, body, data, report);
      if (unknownFields === "keep") {
        for (const name of unknownNames(members, body)) data[name] = copyJson(body[name]);
      } else if (unknownFields === "reject") {
        rejectAll(unknownNames(members, body), report);
      }
      if (!report.isEmpty) return { ok: false, details: report.details() };
      return { ok: true, data, setAside: collect === null ? null : collect(body) };
    },
  };
}

/** The file fields of a definition by name; null if there are none. */
function fileFieldsOf(definition: SchemaDefinition): ReadonlyMap<string, FileField> | null {
  const fields = new Map<string, FileField>();
  for (const [name, field] of Object.entries(definition)) if (field.type === "file") fields.set(name, field);
  return fields.size === 0 ? null : fields;
}

function rejectAll(names: readonly string[], report: IssueReport): void {
  for (const name of names.slice(0, MAX_UNKNOWN_NAMED).map(shortName)) {
    if (report.isFull) return;
    report.enter(name);
    report.add({ code: "unrecognized_keys", keys: [name] });
    report.leave();
  }
}
