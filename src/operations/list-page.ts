import { z } from "zod";
import type { Actor } from "./actor.ts";

/** Rows on one page of a list: the largest number, and the number if nobody says. */
export const MAX_PAGE_SIZE = 1000;
export const DEFAULT_PAGE_SIZE = 25;
/** Bytes of JSON on one page of who asks over a network; that is 16 submissions of 64 KiB. */
export const MAX_PAGE_BYTES = 1_048_576;

/** What an operation takes that lists in pages. */
export const pageInput = {
  limit: z.int().min(1).max(MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE),
  cursor: z.string().nullable().default(null).describe("The `next_cursor` of the page before."),
};

export const nextCursor = z.string().nullable();

/** A terminal beside the database has room for a page of any size. */
export function maxPageBytes({ kind }: Actor): number {
  return kind === "terminal" ? Infinity : MAX_PAGE_BYTES;
}
