/** A number in groups of three digits. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
