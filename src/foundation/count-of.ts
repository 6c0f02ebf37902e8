/** A number with what is counted: "1 form", "2 forms". @param many the plural, unless it only adds an s. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
