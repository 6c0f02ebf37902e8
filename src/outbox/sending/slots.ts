/** A limit that all workspaces share, and how much of it is taken. */
interface Shared {
  readonly limit: number;
  /** Taken by all workspaces. */
  readonly taken: number;
  /** Taken by the workspace that asks. */
  readonly own: number;
}

/** How much of the limit one workspace may have: `half` if others want it too, `most` if no other wants it now. */
export type Portion = "half" | "most";

/** How much more a workspace may take. One slot always stays free for a workspace that has none. */
export function roomFor({ limit, taken, own }: Shared, portion: Portion): number {
  const free = limit - taken;
  const bound = portion === "half" ? Math.max(Math.floor(limit / 2), 1) : limit;
  return Math.min(bound - own, own === 0 && free === 1 ? 1 : free - 1);
}

/** The names of two counts of attempts that share a limit: of all workspaces, and of one. */
export interface SlotNames {
  readonly all: string;
  readonly own: string;
}

/** Counts the attempts under way, under the names of their slots. */
export class Slots {
  /** Whether there are several workspaces, so that each must leave something to the others. */
  isShared: boolean;
  readonly #taken: Map<string, number>;

  constructor(taken: Iterable<readonly [name: string, count: number]> = [], isShared = false) {
    this.#taken = new Map(taken);
    this.isShared = isShared;
  }

  copy(): Slots {
    return new Slots(this.#taken, this.isShared);
  }

  taken(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  /** How many more slots a workspace may take. */
  room({ all, own }: SlotNames, limit: number, portion: Portion): number {
    const taken = this.taken(all);
    return this.isShared ? roomFor({ limit, taken, own: this.taken(own) }, portion) : limit - taken;
  }

  isEmpty(): boolean {
    return this.#taken.size === 0;
  }

  /** Takes slots. @param count a negative number gives slots back. */
  take(names: readonly string[], count: number): void {
    for (const name of names) {
      const next = this.taken(name) + count;
      if (next === 0) this.#taken.delete(name);
      else this.#taken.set(name, next);
    }
  }
}
