/**
 * A well-formed text of at most `maxLength` UTF-16 units. A longer one is cut, never within a character, and ends with an ellipsis, which
 * counts too.
 */
export function shorten(text: string, maxLength: number): string {
  const shown =
    text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  return shown.toWellFormed();
}
