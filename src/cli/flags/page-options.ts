import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "../../operations/list-page.ts";
import { parseCount } from "./arguments.ts";
import type { OptionValues } from "./option-values.ts";
import type { Output } from "../output/output.ts";

/** The options of a command that lists in pages. */
export const pageOptions = [
  {
    flags: "--limit <count>",
    summary: `how many to show, 1 to ${MAX_PAGE_SIZE} (default: ${DEFAULT_PAGE_SIZE})`,
    parse: parseCount(MAX_PAGE_SIZE),
  },
  { flags: "--cursor <cursor>", summary: "show the next page: the next_cursor of the page before" },
] as const;

/** The input of the operations for these options. */
export function pageOf({ limit, cursor }: OptionValues<typeof pageOptions>) {
  return { limit: limit ?? DEFAULT_PAGE_SIZE, cursor };
}

/** Notes how to get the next page, if there is one. */
export function noteNextPage(output: Output, page: { readonly next_cursor: string | null }): void {
  if (page.next_cursor !== null) output.note(`more with: --cursor ${page.next_cursor}`);
}
