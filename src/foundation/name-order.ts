const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true });

/** Compares names as people sort them: case does not count, and `Client 10` comes after `Client 9`. */
export function inNameOrder(left: string, right: string): number {
  return collator.compare(left, right);
}
