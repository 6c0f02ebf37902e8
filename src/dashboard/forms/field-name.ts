/** The longest derived name, in characters. */
const MAX_DERIVED_LENGTH = 40;

/**
 * Derives the name of an input from a label: `Day of collection` becomes `day_of_collection`. A letter that the source of a page had better
 * not contain becomes a plain letter, or is left out.
 *
 * @param taken the names of the other fields
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
