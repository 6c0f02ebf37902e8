import { createZonedClock } from "../../foundation/zoned-time.ts";
import type { SchemaDefinition } from "../../schemas/definition.ts";
import { unguarded } from "../export/csv.ts";
import { columnsOf, type ExportFields, type Look } from "../export/export-columns.ts";
import type { ColumnRole } from "./import-formats.ts";
import { zoneInHeading } from "./own-time-heading.ts";

/** What a column of our own table is; null if it is nothing that a table brings. */
export type OwnTarget = { readonly role: ColumnRole } | { readonly field: string } | null;

/** The roles of columns of our own, by their headings without the number that tells equal ones apart. */
const ROLES: ReadonlyMap<string, ColumnRole> = new Map([
  ["id", "id"],
  ["created_at", "created_at"],
  ["ip_address", "ip_address"],
  ["user_agent", "user_agent"],
  ["unknown_fields", "unknown_fields"],
  ["Id", "id"],
  ["IP address", "ip_address"],
  ["Browser", "user_agent"],
  ["Not among the fields", "unknown_fields"],
]);

/** Headings that only our own tables for programs have together. */
const TECHNICAL = ["endpoint_id", "created_at", "spam_class"];

/**
 * The columns of a table that this service wrote for a form with these fields, by their headings. The export that writes the headings is
 * asked, because a label may be the same as the name of another field, or as a column of the table. Headings that it would not write are
 * missing: a file may have fields of earlier versions. The map is empty for a table of another origin.
 */
export function ownTargets(
  headings: readonly string[],
  definition: SchemaDefinition,
): ReadonlyMap<string, OwnTarget> {
  const zone = headings.map(zoneInHeading).find((each) => each !== null);
  const looks: Look[] = [];
  if (zone !== undefined) looks.push({ ...LOOK, order: "people", clock: createZonedClock(zone) });
  else if (TECHNICAL.every((each) => headings.includes(each)))
    for (const hasLabels of [false, true]) looks.push({ ...LOOK, hasLabels });
  const written = new Map(headings.map((heading) => [unguarded(heading), heading]));
  let best = new Map<string, OwnTarget>();
  for (const look of looks) {
    const found = new Map<string, OwnTarget>();
    for (const [heading, target] of targetsIn(definition, look)) {
      const there = written.get(heading);
      if (there !== undefined) found.set(there, target);
    }
    if (found.size > best.size) best = found;
  }
  return best;
}

const LOOK: Look = { order: "technical", hasLabels: false, clock: null, formName: () => "" };

/** The headings that an export in this look has, each with what its column is. */
function targetsIn(definition: SchemaDefinition, look: Look): (readonly [string, OwnTarget])[] {
  const fields: ExportFields = {
    names: new Set(Object.keys(definition)),
    hasRest: true,
    hasSetAside: true,
    labels: new Map(
      Object.entries(definition).flatMap(([name, { label }]) => (label === undefined ? [] : [[name, label]])),
    ),
  };
  return columnsOf(fields, look).map(({ heading, isTime, field }) => {
    if (field !== undefined) return [heading.trim(), { field }];
    const role = isTime ? "created_at" : ROLES.get(heading.replace(/ \(\d+\)$/, ""));
    return [heading.trim(), role === undefined ? null : { role }];
  });
}
