/** The largest number of characters of a list of origins in a header, because proxies bound headers. */
const MAX_LENGTH = 2000;

/**
 * The pages that may show the answer to a form in a frame, as a content policy names them. A browser looks at each page around a frame, so
 * the origin that the form was sent from is not enough: a site builder puts a form into a frame of another origin. The answer knows no
 * visitor and shows only what was just sent, so a frame around it can take nothing from anybody.
 *
 * @param allowed the form's allowed origins
 * @param sentFrom the origin of the page that the form was sent from; null if unknown
 */
export function framersOf(allowed: readonly string[], sentFrom: string | null): string {
  if (allowed.length === 0) return "*";
  const sources = new Set([...(sentFrom === null ? [] : [sentFrom]), ...allowed]);
  // Frames without an origin have no name in a policy.
  sources.delete("null");
  let list = "";
  for (const source of sources)
    if (list.length + source.length < MAX_LENGTH) list += `${list && " "}${source}`;
  return list === "" ? "'none'" : list;
}
