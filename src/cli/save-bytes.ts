import { createHash } from "node:crypto";
import { FormsvcError } from "../foundation/errors.ts";

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
    throw new FormsvcError("failed", `${id}: what came is not the file, its SHA-256 differs`);
}
