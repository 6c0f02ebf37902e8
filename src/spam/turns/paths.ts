import { mix } from "../hashing.ts";
import { type LaidTurns, START } from "./lay-turns.ts";
import { type Meaning, MEANINGS } from "./meanings.ts";
import { ANY, type Units } from "./units.ts";

/** Open addressing by the place and the unit of a step, which say where the first step of them is; 0 is free. */
const SLOTS = 131_072;

/** Turns as paths: each unit is a step from one place to the next. */
export class Paths {
  readonly #laid: LaidTurns;
  /** The number of a step, and one more. */
  readonly #firsts = new Uint32Array(SLOTS);
  /** For each step the next one from the same place by the same unit, and one more; 0 if there is none. */
  readonly #nexts: Uint32Array;
  /** Places from which any unit leads on. */
  readonly #open = new Set<number>();

  constructor(laid: LaidTurns) {
    this.#laid = laid;
    this.#nexts = new Uint32Array(laid.origins.length);
    // Very many turns begin with the same words, so each step knows the next one, and none is searched for.
    const lasts = new Uint32Array(SLOTS);
    for (let step = 0; step < laid.origins.length; step += 1) {
      const [place = 0, unit = 0] = [laid.origins[step], laid.units[step]];
      if (unit === ANY) this.#open.add(place);
      const slot = this.#slotOf(place, unit);
      const last = lasts[slot] ?? 0;
      if (last === 0) this.#firsts[slot] = step + 1;
      else this.#nexts[last - 1] = step + 1;
      lasts[slot] = step + 1;
    }
  }

  /** The meaning of a turn that begins at a unit, and the number of the unit behind the turn; null if none begins there. */
  follow(read: Units, at: number, place = START): { meaning: Meaning; end: number } | null {
    const meaning = MEANINGS[(this.#laid.meanings[place] ?? 0) - 1];
    if (meaning !== undefined) return { meaning, end: at };
    if (at >= read.count) return null;
    const found = this.#step(read, at, place, read.units[at] ?? 0);
    return found ?? (this.#open.has(place) ? this.#step(read, at, place, ANY) : null);
  }

  #step(read: Units, at: number, place: number, unit: number): { meaning: Meaning; end: number } | null {
    let next = this.#firsts[this.#slotOf(place, unit)] ?? 0;
    for (; next !== 0; next = this.#nexts[next - 1] ?? 0) {
      const found = this.follow(read, at + 1, this.#laid.targets[next - 1]);
      if (found !== null) return found;
    }
    return null;
  }

  /** Where the first step from a place by a unit stands, or would stand. */
  #slotOf(place: number, unit: number): number {
    const { origins, units } = this.#laid;
    let slot = mix(unit ^ Math.imul(place, 0x9e3779b1)) % SLOTS;
    for (let first = this.#firsts[slot] ?? 0; first !== 0; first = this.#firsts[slot] ?? 0) {
      if (origins[first - 1] === place && units[first - 1] === unit) break;
      slot = (slot + 1) % SLOTS;
    }
    return slot;
  }
}
