/** The token of a link that has it behind its #: people paste the whole link. */
export function tokenIn(text: string): string {
  return text.slice(text.lastIndexOf("#") + 1).trim();
}
