/**
 * Where mail programs begin to see a link or an address: before the `@` and the dots of a host, whichever sign counts as one, behind a
 * scheme, and within `//`.
 */
const JOINTS =
  /(?<=\S)(?=@\S)|(?<=[\p{L}\p{N}])(?=[.。．｡]\p{L})|(?<=\d)(?=\.\d{1,3}\.\d{1,3}\.\d)|(?<=\p{L}:)(?=\S)|(?<=\/)(?=\/)/gu;

/** A stranger's text of which no mail program makes a link by itself: a space that nobody sees takes addresses apart. */
export function withoutLinks(text: string): string {
  return text.replace(JOINTS, "\u200b");
}
