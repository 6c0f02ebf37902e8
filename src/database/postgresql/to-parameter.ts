/** PostgreSQL's text has no NUL. What a receiver answered may have one; JSON writes it as an escape. */
export function toParameter(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}
