import type { FieldDefinition } from "./field-definition.ts";

/** The unknown fields of a body, which the schema does not have, kept beside the data. */
export interface SetAside {
  /**
   * Plain values by their paths, as in `details`: `person.age`, `list.0.b`; in the order in which they came. An empty object or list counts
   * as a plain value.
   */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The number of values that were left out because they did not fit. */
  readonly dropped: number;
}

/** The largest number of values of one post that are set aside. */
export const MAX_SET_ASIDE_NAMES = 50;
/** The largest size of these values as one JSON object, in bytes of UTF-8. */
export const MAX_SET_ASIDE_BYTES = 4096;

/** Collects the undeclared members of a body that the schema accepts; null if there are none. */
export type Collect = (body: Readonly<Record<string, unknown>>) => SetAside | null;

/** Compiles the schema once. Collecting then needs only one look-up for each member. */
export function compileCollect(fields: Readonly<Record<string, FieldDefinition>>): Collect {
  const visit = compileVisit(fields);
  return (body) => {
    const draft = new Draft();
    visit(body, ROOT, draft);
    return draft.result();
  };
}

/** The beginning of a path, up to and with a dot. It is written and measured only when an undeclared member below it needs it. */
class Prefix {
  readonly #parent: Prefix | null;
  readonly #name: string;
  #text: string | null = null;
  #bytes: number | null = null;

  /** @param parent null for the root, whose prefix is empty. */
  constructor(parent: Prefix | null, name: string) {
    this.#parent = parent;
    this.#name = name;
  }

  get text(): string {
    this.#text ??= this.#parent === null ? "" : `${this.#parent.text}${this.#name}.`;
    return this.#text;
  }

  /** The bytes of the prefix in JSON. */
  get bytes(): number {
    this.#bytes ??= this.#parent === null ? 0 : this.#parent.bytes + bytesWithin(this.#name) + 1;
    return this.#bytes;
  }

  /** Returns the prefix of the next level. It is measured at once, so that a deep nesting is not measured by a deep recursion. */
  below(name: string): Prefix {
    const inner = new Prefix(this, name);
    inner.#bytes = this.bytes + bytesWithin(name) + 1;
    return inner;
  }
}

const ROOT = new Prefix(null, "");

/** The bytes of a text in JSON, without its quotes. */
function bytesWithin(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** Looks for undeclared members in a value that matches its field. */
type Visit = (value: unknown, prefix: Prefix, draft: Draft) => void;

function compileVisit(fields: Readonly<Record<string, FieldDefinition>>): Visit {
  const declared = new Map(Object.entries(fields).map(([name, field]) => [name, visitOf(field)]));
  return (value, prefix, draft) => {
    const source = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(source)) {
      const visit = declared.get(name);
      if (visit === undefined) draft.add(prefix, name, source[name]);
      else if (visit !== null) visit(source[name], new Prefix(prefix, name), draft);
    }
  };
}

/** Returns null if a value of this field cannot have undeclared members. */
function visitOf(field: FieldDefinition): Visit | null {
  if (field.type === "object") return field.properties === undefined ? null : compileVisit(field.properties);
  const visitItem = field.type === "array" && field.items !== undefined ? visitOf(field.items) : null;
  if (visitItem === null) return null;
  return (value, prefix, draft) => {
    const items = value as readonly unknown[];
    for (let index = 0; index < items.length; index += 1)
      visitItem(items[index], new Prefix(prefix, String(index)), draft);
  };
}

/** Collects values to set aside, within the limits. Measures every byte of the body at most once. */
class Draft {
  #fields: Record<string, unknown> | null = null;
  #names = 0;
  /** The brackets of the JSON object. */
  #bytes = 2;
  #dropped = 0;

  /**
   * Adds a value with everything inside. Walks without recursion, so that any depth of nesting is possible. `__proto__` is never a field.
   */
  add(prefix: Prefix, name: string, value: unknown): void {
    const pending: [Prefix, string, unknown][] = [[prefix, name, value]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [begin, key, each] = next;
      if (key === "__proto__") continue;
      const members = typeof each === "object" && each !== null ? Object.entries(each) : [];
      if (members.length === 0) {
        this.#addPlain(begin, key, each);
        continue;
      }
      const inner = begin.below(key);
      for (const [member, content] of members.toReversed()) pending.push([inner, member, content]);
    }
  }

  /** @param value neither an object nor a list with members. */
  #addPlain(prefix: Prefix, name: string, value: unknown): void {
    const bytes = this.#names < MAX_SET_ASIDE_NAMES ? this.#measure(prefix, name, value) : Infinity;
    const path = bytes === Infinity ? "" : prefix.text + name;
    if (bytes === Infinity || (this.#fields !== null && Object.hasOwn(this.#fields, path))) {
      this.#dropped += 1;
      return;
    }
    this.#fields ??= {};
    this.#fields[path] = value;
    this.#names += 1;
    this.#bytes += bytes;
  }

  /** The bytes that a value adds to the JSON; Infinity if they do not fit. A text that is clearly too long is not measured. */
  #measure(prefix: Prefix, name: string, value: unknown): number {
    // Two quotes and a colon, and a comma if there is a value before.
    const around = this.#names === 0 ? 3 : 4;
    const room = MAX_SET_ASIDE_BYTES - this.#bytes - around - prefix.bytes;
    const length = name.length + (typeof value === "string" ? value.length + 2 : 0);
    if (length > room) return Infinity;
    const own = bytesWithin(name) + Buffer.byteLength(JSON.stringify(value));
    return own > room ? Infinity : own + around + prefix.bytes;
  }

  result(): SetAside | null {
    if (this.#fields === null && this.#dropped === 0) return null;
    return { fields: this.#fields ?? {}, dropped: this.#dropped };
  }
}
