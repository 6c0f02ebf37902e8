import { importTable } from "../../src/submissions/import/import-table.ts";
import type { Database } from "../../src/database/database.ts";
import type { SchemaDefinition } from "../../src/schemas/definition.ts";
import { rowsOf, write } from "./engines.ts";
import { NOON } from "./fake-clock.ts";
import { changeSchema, performOn } from "./terminal.ts";
import { twoOwners } from "./two-owners.ts";

/** A file that comes in small pieces. */
export function tableOf(text: string | Buffer) {
  const bytes = Buffer.from(text);
  const cut = async function* () {
    for (let at = 0; at < bytes.length; at += 7) yield await Promise.resolve(bytes.subarray(at, at + 7));
  };
  return { source: { name: "old.csv", bytes: cut, longestPieceBytes: 1_048_576, mostMembers: 22_000 } };
}

/** The fields of the bakery's form. */
export const BAKERY_SCHEMA: SchemaDefinition = {
  name: { type: "string", required: true, maxLength: 20 },
  email: { type: "string", format: "email" },
  guests: { type: "number" },
  vegan: { type: "boolean" },
  days: { type: "array", items: { type: "string", enum: ["Fri", "Sat"] } },
  pickup: { type: "string", format: "date" },
  closed: { type: "array", items: { type: "string", format: "date" } },
};

/** Two owners, of whom one has a form for a bakery without submissions, and functions that import into it and show what it has. */
export async function bakery(db: Database) {
  const owners = await twoOwners(db);
  const { endpoint } = owners.shop;
  await db.transaction(() => changeSchema(endpoint, BAKERY_SCHEMA, NOON));
  await write(db, "DELETE FROM submission");
  const bring = (
    text: string | Buffer,
    more: {
      format?: "csv" | "formspree" | "netlify" | "basin" | "google";
      map?: string[];
      encoding?: string;
      dry_run?: boolean;
      without_times?: boolean;
    } = {},
  ) => performOn(db, importTable, { endpoint, format: "csv", ...more }, { parts: tableOf(text) });
  const stored = async () => {
    const rows = await rowsOf<{ data: string; created_at: number; imported_from: string }>(
      db,
      "SELECT data, created_at, imported_from FROM submission ORDER BY created_at, data",
    );
    return rows.map(({ data, created_at: at, imported_from: from }) => [
      JSON.parse(data) as unknown,
      new Date(at).toISOString(),
      from,
    ]);
  };
  return { ...owners, endpoint, bring, stored };
}
