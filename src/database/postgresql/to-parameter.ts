/**
 * Replaces NUL in texts, such as answers of receivers, because PostgreSQL's text cannot contain it. JSON needs no replacement: it escapes
 * NUL.
 */
export function toParameter(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
