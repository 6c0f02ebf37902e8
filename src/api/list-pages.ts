import { z } from "zod";
import { unwrapped } from "../operations/marks.ts";
import type { AnyOperation } from "../operations/operation.ts";
import { listName, readCursor, readLimit, writeCursor } from "./cursor.ts";
import { inputOfQuery, type RequestParts, wrongParameter } from "./read-input.ts";

/** The page of a list that a request asks for. */
interface Paging {
  readonly input: Record<string, unknown>;
  readonly limit: number;
  /** The position after which the page begins; null means the beginning. */
  readonly after: string | null;
  readonly list: string;
}

type Output = Readonly<{ data: readonly unknown[]; next_cursor?: string | null }>;

/** Whether the output of an operation is a list. */
export function isList({ output, kind }: Pick<AnyOperation, "output" | "kind">): boolean {
  if (kind === "stream") return false;
  if (!(output instanceof z.ZodObject)) return false;
  const { data, next_after: feed } = output.shape as Readonly<Record<string, z.ZodType>>;
  return data !== undefined && feed === undefined && unwrapped(data) instanceof z.ZodArray;
}

/** Whether the operation returns pages itself. Short lists do not; their pages are made here. */
function pagesItself({ input }: Pick<AnyOperation, "input">): boolean {
  return Object.hasOwn(input.shape, "cursor");
}

/** @throws invalid_request */
export function readPaging(operation: AnyOperation, { params, query }: Omit<RequestParts, "body">): Paging {
  const filters = new URLSearchParams(query);
  for (const own of ["limit", "cursor"]) {
    if (query.getAll(own).length > 1) throw wrongParameter(own, "given more than once");
    filters.delete(own);
  }
  const filter = inputOfQuery(operation, { params, query: filters });
  const limit = readLimit(query.get("limit"));
  const list = listName(operation.name, filter);
  const after = readCursor(query.get("cursor"), list);
  const input = pagesItself(operation) ? { ...filter, limit, cursor: after } : filter;
  return { input, limit, after, list };
}

/** Makes a page of what an operation returned. Its cursor is valid only for this list. */
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

/** The position of a row in its list: its id, so that other rows that come and go do not move the page; or its index, if it has no id. */
function positionOf(row: unknown, index: number): string {
  const { id } = row as { readonly id?: unknown };
  return typeof id === "string" ? id : String(index);
}

/** The index after a position. If its row is gone, the index of the first larger id, because such lists are sorted by id. */
function behind(positions: readonly string[], after: string): number {
  const at = positions.indexOf(after);
  if (at !== -1) return at + 1;
  const next = positions.findIndex((position) => position > after);
  return next === -1 ? positions.length : next;
}
