import type { OwnChange } from "../../operations/operation.ts";

/**
 * What an import records of an endpoint, once, with the first thing that it adds there.
 *
 * @param what what the file has: the number of its rows, or a few words
 */
export function importBegan(
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  what: number | string,
): OwnChange {
  return { subject: id, workspaceId, detail: `began an import of ${what}` };
}
