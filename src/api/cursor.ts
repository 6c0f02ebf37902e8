import { hash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";

/** The largest number of rows on one page over HTTP, and the default. */
export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 25;

/** A position in a list: the {@link listName}, and the id of the last row that was shown. */
interface Position {
  readonly list: string;
  readonly after: string;
}

/** A name for a list: the operation and its filter. Lists with different names have different rows. */
export function listName(operation: string, filter: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(filter).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify([operation, sorted]), "base64url").slice(0, 16);
}

export function writeCursor({ list, after }: Position): string {
  return Buffer.from(`${list} ${after}`).toString("base64url");
}

/** The id after which a page of the list begins; null for the first page. @throws invalid_request for a cursor of another list */
export function readCursor(cursor: string | null, list: string): string | null {
  if (cursor === null) return null;
  const [of, after] = Buffer.from(cursor, "base64url").toString().split(" ", 2);
  if (of === list && after !== undefined && writeCursor({ list, after }) === cursor) return after;
  throw new FormsvcError("invalid_request", "the cursor is not one that a page of this list returned", {
    details: { cursor: "expected the next_cursor of a page of the same list, with the same filters" },
  });
}

/** @throws invalid_request */
export function readLimit(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  const expected = `expected a whole number from 1 to ${MAX_LIMIT}`;
  throw new FormsvcError("invalid_request", `the input is wrong: limit: ${expected}`, {
    details: { limit: expected },
  });
}
