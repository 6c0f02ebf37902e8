/** A number with its noun: "1 form", "2 forms". @param many the plural, if it does not just add an s */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
