/** The largest number of entries of an Accept header that are read; browsers send about eight. */
const MAX_ENTRIES = 32;

/** Whether the client asks for JSON rather than a page: its `Accept` header names JSON, and no kind of HTML before it. */
export function prefersJson(accept: string | undefined): boolean {
  return isJson(preferredType(accept));
}

/** Whether the client asks for a page, as browsers do. A client that names neither JSON nor HTML does not. */
export function prefersPage(accept: string | undefined): boolean {
  return isHtml(preferredType(accept));
}

/** The first of the JSON and HTML types that the header names, by their weights; empty if it names none. */
function preferredType(accept: string | undefined): string {
  const entries = (accept ?? "").toLowerCase().split(",").slice(0, MAX_ENTRIES).map(readEntry);
  const [first] = entries
    .filter(({ type, weight }) => weight > 0 && (isJson(type) || isHtml(type)))
    .sort((left, right) => right.weight - left.weight);
  return first?.type ?? "";
}

function readEntry(entry: string): { readonly type: string; readonly weight: number } {
  const [type = "", ...parameters] = entry.split(";").map((part) => part.trim());
  const given = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const weight = given === undefined ? 1 : Number(given);
  return { type, weight: Number.isFinite(weight) ? weight : 0 };
}

function isJson(type: string): boolean {
  return type === "application/json";
}

function isHtml(type: string): boolean {
  return type === "text/html" || type === "application/xhtml+xml";
}
