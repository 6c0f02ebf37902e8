import { z } from "zod";
import { unwrapped } from "../operations/marks.ts";
import type { AnyOperation } from "../operations/operation.ts";
import { listName, readCursor, readLimit, writeCursor } from "./cursor.ts";
import { inputOfQuery, type RequestParts } from "./read-input.ts";

/** One page of a list, as it was asked for. */
interface Paging {
  readonly input: Record<string, unknown>;
  readonly limit: number;
  /** Null is the beginning. */
  readonly after: string | null;
  readonly list: string;
}

type Output = Readonly<{ data: readonly unknown[]; next_cursor?: string | null }>;

/** Whether an operation answers a list. */
export function isList({ output, kind }: Pick<AnyOperation, "output" | "kind">): boolean {
  if (kind === "stream") return false;
  if (!(output instanceof z.ZodObject)) return false;
  const { data, next_after: feed } = output.shape as Readonly<Record<string, z.ZodType>>;
  return data !== undefined && feed === undefined && unwrapped(data) instanceof z.ZodArray;
}

/** Whether it pages itself: short lists do not, and are cut here. */
function pagesItself({ input }: Pick<AnyOperation, "input">): boolean {
  return Object.hasOwn(input.shape, "cursor");
}

/** @throws invalid_request */
export function readPaging(operation: AnyOperation, { params, query }: Omit<RequestParts, "body">): Paging {
  const filters = new URLSearchParams(query);
  for (const own of ["limit", "cursor"]) filters.delete(own);
  const filter = inputOfQuery(operation, { params, query: filters });
  const limit = readLimit(query.get("limit"));
  const list = listName(operation.name, filter);
  const after = readCursor(query.get("cursor"), list);
  const input = pagesItself(operation) ? { ...filter, limit, cursor: after } : filter;
  return { input, limit, after, list };
}

/** What an operation found, as a page whose cursor belongs to this list alone. */
export function pageOf(operation: AnyOperation, { list, limit, after }: Paging, found: unknown): Output {
  const { data, next_cursor: next = null, ...rest } = found as Output;
  if (pagesItself(operation))
    return { ...rest, data, next_cursor: next === null ? null : writeCursor({ list, after: next }) };
  const positions = data.map(positionOf);
  const from = after === null ? 0 : behind(positions, after);
  const page = data.slice(from, from + limit);
  const last = from + page.length < data.length ? positions[from + page.length - 1] : undefined;
  return {
    ...rest,
    data: page,
    next_cursor: last === undefined ? null : writeCursor({ list, after: last }),
  };
}

/** Where a row stands in its list: by its id, so that rows that come and go move no page; without one by its number. */
function positionOf(row: unknown, index: number): string {
  const { id } = row as { readonly id?: unknown };
  return typeof id === "string" ? id : String(index);
}

/** The index behind a position. If its row is gone, behind those of smaller ids: such lists are in the order of ids. */
function behind(positions: readonly string[], after: string): number {
  const at = positions.indexOf(after);
  if (at !== -1) return at + 1;
  const next = positions.findIndex((position) => position > after);
  return next === -1 ? positions.length : next;
}
