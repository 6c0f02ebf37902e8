/** In characters. */
const MAX_DERIVED_LENGTH = 40;

/**
 * The name of an input, made of what people read: `Day of collection` becomes `day_of_collection`. Letters that a name in a page's source is
 * better without become their plain ones, or nothing.
 *
 * @param taken names that other fields have.
 */
export function nameFromLabel(label: string, taken: ReadonlySet<string>): string {
  const plain = label
    .slice(0, 4 * MAX_DERIVED_LENGTH)
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .slice(0, MAX_DERIVED_LENGTH)
    .replaceAll(/^_+|_+$/g, "");
  const name = plain === "" ? "field" : plain;
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
  return free;
}
