/** The names of the first items, and the number of the others: "a, b and 3 more". */
export function listNames<Item>(
  items: readonly Item[],
  max: number,
  nameOf: (item: Item) => string = String,
): string {
  const named = items.slice(0, max).map(nameOf).join(", ");
  return items.length > max ? `${named} and ${items.length - max} more` : named;
}
