import { createHash } from "node:crypto";
import { FormsvcError } from "../../foundation/errors.ts";
import { isId } from "../../foundation/id.ts";
import type { FileJson } from "../../submissions/files/file-operations.ts";

/** Writes the parts of a file as they arrive. @throws failed if the bytes are not those of the file */
export async function writeParts(
  { id, sha256 }: { readonly id: string; readonly sha256: string },
  parts: AsyncIterable<{ readonly bytes: string }>,
  write: (bytes: Uint8Array) => void,
): Promise<void> {
  const digest = createHash("sha256");
  for await (const { bytes } of parts) {
    const part = Buffer.from(bytes, "base64");
    digest.update(part);
    write(part);
  }
  if (digest.digest("hex") !== sha256)
    throw new FormsvcError("failed", `${id}: the bytes that came are not the file: their SHA-256 differs`);
}

/**
 * Refuses ids that are none. They become names of a folder and of a file here, and a server at a distance could name other places with them.
 *
 * @throws unavailable
 */
export function checkIds({ id, submission_id: submission }: Pick<FileJson, "id" | "submission_id">): void {
  if (isId("fil", id) && (isId("sub", submission) || isId("held", submission))) return;
  throw new FormsvcError(
    "unavailable",
    "the server names a file as formsvc does not, so nothing is saved: is it a server of formsvc?",
  );
}
