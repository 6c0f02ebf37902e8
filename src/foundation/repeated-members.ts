/** A member that stands again in the same object of a JSON text. */
interface RepeatedMember {
  readonly path: readonly string[];
  /** The lines of the first one and of this one, counted from 1. */
  readonly lines: readonly [number, number];
}

/** An object or list that is open: the lines of the members of an object, or the number of the entry of a list. */
interface Open {
  readonly members: Map<string, number> | null;
  name: string;
  entry: number;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:,\n]/g;

/**
 * Finds the members that stand several times, because `JSON.parse` takes the last one without a word. A person who edits the first one
 * would see no effect.
 *
 * @param json a text that `JSON.parse` accepts
 */
export function* repeatedMembers(json: string): Generator<RepeatedMember> {
  const open: Open[] = [];
  let text = "";
  let line = 1;
  for (const [token] of json.matchAll(TOKENS)) {
    const inner = open.at(-1);
    if (token === "\n") line += 1;
    else if (token === "{") open.push({ members: new Map(), name: "", entry: 0 });
    else if (token === "[") open.push({ members: null, name: "", entry: 0 });
    else if (token === "}" || token === "]") open.pop();
    else if (token === ",") {
      if (inner !== undefined) inner.entry += 1;
    } else if (token === ":") {
      if (inner === undefined || inner.members === null) continue;
      inner.name = JSON.parse(text) as string;
      const first = inner.members.get(inner.name);
      if (first === undefined) inner.members.set(inner.name, line);
      else yield { path: open.map(nameIn), lines: [first, line] };
    } else text = token;
  }
}

/** The largest number of objects and lists inside each other. @param json a text that `JSON.parse` accepts */
export function depthOf(json: string): number {
  let [depth, deepest] = [0, 0];
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function nameIn({ members, name, entry }: Open): string {
  return members === null ? String(entry) : name;
}
