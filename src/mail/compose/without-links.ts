/**
 * The positions at which mail programs recognise a link or an address: before the `@`, before each dot of a host (any character that counts
 * as a dot), after a scheme, and within `//`.
 */
const JOINTS =
  /(?<=\S)(?=@\S)|(?<=[\p{L}\p{N}])(?=[.。．｡]\p{L})|(?<=\d)(?=\.\d{1,3}\.\d{1,3}\.\d)|(?<=\p{L}:)(?=\S)|(?<=\/)(?=\/)/gu;

/** A stranger's text that no mail program turns into a link by itself: an invisible space is put between the parts of each address. */
export function withoutLinks(text: string): string {
  return text.replace(JOINTS, "\u200b");
}
