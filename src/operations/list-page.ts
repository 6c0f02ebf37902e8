import { z } from "zod";
import type { Actor } from "./actor.ts";

/** The largest number of rows on one page of a list, and the number if the caller gives none. */
export const MAX_PAGE_SIZE = 1000;
export const DEFAULT_PAGE_SIZE = 25;
/** The largest number of bytes of JSON on one page for a caller over a network: as many as 16 submissions of 64 KiB. */
export const MAX_PAGE_BYTES = 1_048_576;

/** The input members of an operation that lists pages. */
export const pageInput = {
  limit: z.int().min(1).max(MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE),
  cursor: z
    .string()
    .nullable()
    .default(null)
    .describe("The `next_cursor` of the page before; null is the first page."),
};

export const nextCursor = z.string().nullable();

/** The largest number of bytes on a page for this actor. The command line on the machine takes pages of any size. */
export function maxPageBytes({ kind }: Actor): number {
  return kind === "terminal" ? Infinity : MAX_PAGE_BYTES;
}
