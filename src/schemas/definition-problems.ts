import { shorten } from "../foundation/shorten.ts";

/** One problem of a definition: its path, such as `address.properties.city.maxLength`, and what to do. */
export interface DefinitionProblem {
  readonly path: string;
  readonly message: string;
}

/** The largest number of problems that are reported for one definition. */
const MAX_PROBLEMS = 50;
/** The longest part of a wrong name or value that a problem repeats, in characters. */
const MAX_SHOWN_LENGTH = 60;

export class DefinitionProblems {
  readonly list: DefinitionProblem[] = [];
  /** The number of problems found, including those beyond the limit. */
  count = 0;

  /** Adds a problem. @param message a sentence that continues the path, like "must be …". */
  add(path: string, message: string): void {
    this.count += 1;
    if (this.list.length < MAX_PROBLEMS) this.list.push({ path, message });
  }
}

/** The path of a member, in brackets if its name could be misread. */
export function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${show(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

/** A wrong value as JSON, shortened. */
export function show(value: unknown): string {
  return shorten(JSON.stringify(value), MAX_SHOWN_LENGTH);
}
