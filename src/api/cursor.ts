import { hash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";

/** Rows on one page over HTTP: the largest number, and the number if the client does not say. */
export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 25;

/** A page's place in a list: {@link listName}, and the id of the last row that was shown. */
interface Position {
  readonly list: string;
  readonly after: string;
}

/** What tells two lists apart: the operation and what it filters by. */
export function listName(operation: string, filter: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(filter).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify([operation, sorted]), "base64url").slice(0, 16);
}

export function writeCursor({ list, after }: Position): string {
  return Buffer.from(`${list} ${after}`).toString("base64url");
}

/** The id after which the next page of a list begins; null is its first page. @throws invalid_request for a cursor of another list */
export function readCursor(cursor: string | null, list: string): string | null {
  if (cursor === null) return null;
  const [of, after] = Buffer.from(cursor, "base64url").toString().split(" ", 2);
  if (of === list && after !== undefined && writeCursor({ list, after }) === cursor) return after;
  throw new FormsvcError("invalid_request", "The cursor is not one that a page of this list returned.", {
    details: { cursor: "expected the next_cursor of a page of the same list, with the same filters" },
  });
}

/** @throws invalid_request */
export function readLimit(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  const expected = `expected a whole number from 1 to ${MAX_LIMIT}`;
  throw new FormsvcError("invalid_request", `The input is wrong: limit: ${expected}.`, {
    details: { limit: expected },
  });
}
