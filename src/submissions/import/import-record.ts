import type { OwnChange } from "../../operations/operation.ts";

/**
 * The record of an import into an endpoint. It is made once, with the first thing that the import adds.
 *
 * @param what the content of the file: the number of its rows, or a few words
 */
export function importBegan(
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  what: number | string,
): OwnChange {
  return { subject: id, workspaceId, detail: `began an import of ${what}` };
}
