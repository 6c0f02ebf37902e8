/** Made at the first comparison, because it takes seven milliseconds, a fortieth of a start. */
let collator: Intl.Collator | null = null;

/** Compares names as people sort them: case does not count, and `Client 10` comes after `Client 9`. */
export function inNameOrder(left: string, right: string): number {
  collator ??= new Intl.Collator("en", { sensitivity: "base", numeric: true });
  return collator.compare(left, right);
}
