/** Reads a body to its end. Null if it has more than `maxBytes`, and then the rest is left unread. */
export async function readWhole(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
