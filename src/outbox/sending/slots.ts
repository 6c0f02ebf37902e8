/** Something of which there is a limit for all workspaces together. */
interface Shared {
  readonly limit: number;
  /** By all workspaces. */
  readonly taken: number;
  /** By the one that asks. */
  readonly own: number;
}

/** How much of the limit a workspace may have: `half` if others want it too, `most` if they do not at the moment. */
export type Portion = "half" | "most";

/** How much more a workspace may take. One stays free for a workspace that has none. */
export function roomFor({ limit, taken, own }: Shared, portion: Portion): number {
  const free = limit - taken;
  const bound = portion === "half" ? Math.max(Math.floor(limit / 2), 1) : limit;
  return Math.min(bound - own, own === 0 && free === 1 ? 1 : free - 1);
}

/** Attempts that share a limit: all of them, and those of one workspace. */
export interface SlotNames {
  readonly all: string;
  readonly own: string;
}

/** Attempts under way, by the names that a slot is counted under. */
export class Slots {
  /** Whether there are several workspaces, so that each leaves something to the others. */
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

  /** How many more a workspace may take. */
  room({ all, own }: SlotNames, limit: number, portion: Portion): number {
    const taken = this.taken(all);
    return this.isShared ? roomFor({ limit, taken, own: this.taken(own) }, portion) : limit - taken;
  }

  isEmpty(): boolean {
    return this.#taken.size === 0;
  }

  /** @param count negative gives slots back. */
  take(names: readonly string[], count: number): void {
    for (const name of names) {
      const next = this.taken(name) + count;
      if (next === 0) this.#taken.delete(name);
      else this.#taken.set(name, next);
    }
  }
}
