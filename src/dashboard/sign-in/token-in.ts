/** The token in a pasted text. People paste the whole link, which has the token after its #. */
export function tokenIn(text: string): string {
  return text.slice(text.lastIndexOf("#") + 1).trim();
}
