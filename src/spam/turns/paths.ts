import { mix } from "../hashing.ts";
import { MONEY_MARK, NUMBER_MARKS } from "../normalise-text.ts";
import { partsOf, splitOutside } from "./choices.ts";
import { type Meaning, MEANINGS, type Turns } from "./meanings.ts";
import { spellingsOf } from "./spellings.ts";
import { ANY, readUnits, type Units } from "./units.ts";

/** Open addressing by hashes of a place and the unit that leads on from it; 0 is free. Several steps may have the same hash. */
const SLOTS = 131_072;
const START = 0;

/** Turns as paths: each unit is a step from one place to the next. */
export class Paths {
  readonly #hashes = new Uint32Array(SLOTS);
  readonly #origins = new Uint32Array(SLOTS);
  readonly #targets = new Uint32Array(SLOTS);
  /** The number of the meaning of the turn that ends at each place; 0 at all others. */
  readonly #meanings = new Uint8Array(SLOTS);
  #places = 1;
  /** Places from which any unit leads on. */
  readonly #open = new Set<number>();

  constructor(languages: readonly Turns[]) {
    for (const turns of languages) {
      for (const [meaning, written] of Object.entries(turns)) {
        for (const turn of splitOutside(plainOf(written), ",")) this.#layTurn(turn, meaning as Meaning);
      }
    }
  }

  /** The meaning of a turn that begins at a unit, and the number of the unit behind the turn; null if none begins there. */
  follow(read: Units, at: number, place = START): { meaning: Meaning; end: number } | null {
    const meaning = MEANINGS[(this.#meanings[place] ?? 0) - 1];
    if (meaning !== undefined) return { meaning, end: at };
    if (at >= read.count) return null;
    const found = this.#step(read, at, place, read.units[at] ?? 0);
    return found ?? (this.#open.has(place) ? this.#step(read, at, place, ANY) : null);
  }

  #step(read: Units, at: number, place: number, unit: number): { meaning: Meaning; end: number } | null {
    const hash = stepHash(place, unit);
    for (let slot = hash % SLOTS; this.#hashes[slot] !== 0; slot = (slot + 1) % SLOTS) {
      if (this.#hashes[slot] !== hash || this.#origins[slot] !== place) continue;
      const found = this.follow(read, at + 1, this.#targets[slot]);
      if (found !== null) return found;
    }
    return null;
  }

  #layTurn(written: string, meaning: Meaning): void {
    for (const end of this.#lay(written, [START], this.#newPlace())) {
      if (end === START) throw new Error(`a turn may be empty: ${written}`);
      this.#meanings[end] = MEANINGS.indexOf(meaning) + 1;
    }
  }

  /**
   * Lays a turn that begins at each of the places `from` and ends at `to`.
   *
   * @returns all places where it ends. If its last part may be left out, it also ends where that part begins.
   */
  #lay(turn: string, from: readonly number[], to: number): readonly number[] {
    if (turn === "") return from;
    if (!PARTED.test(turn)) return this.#layWord(turn, from, to);
    const parts = partsOf(turn);
    let places = from;
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index] ?? "";
      const next = index === parts.length - 1 ? to : this.#newPlace();
      places =
        typeof part === "string" ? this.#layWord(part, places, next) : this.#layChoice(part, places, next);
    }
    return places;
  }

  #layChoice(choices: readonly string[], from: readonly number[], to: number): readonly number[] {
    const ends: number[] = [];
    for (const choice of choices) {
      for (const end of this.#lay(choice, from, to)) if (!ends.includes(end)) ends.push(end);
    }
    return ends;
  }

  /** A word is one unit, or each of its letters is, in scripts without spaces. */
  #layWord(word: string, from: readonly number[], to: number): readonly number[] {
    if (word === "*") {
      this.#layStep(from, ANY, to);
      for (const place of from) this.#open.add(place);
      return [to];
    }
    for (const spelling of spellingsOf(word)) {
      const { count, units } = readUnits(spelling);
      if (count === 0) throw new Error(`a turn has a word without letters: ${word}`);
      let places = from;
      for (let index = 0; index < count; index += 1) {
        const next = index === count - 1 ? to : this.#newPlace();
        this.#layStep(places, units[index] ?? 0, next);
        places = [next];
      }
    }
    return [to];
  }

  #layStep(from: readonly number[], unit: number, to: number): void {
    for (const place of from) {
      const hash = stepHash(place, unit);
      let slot = hash % SLOTS;
      while (this.#hashes[slot] !== 0) slot = (slot + 1) % SLOTS;
      this.#hashes[slot] = hash;
      this.#origins[slot] = place;
      this.#targets[slot] = to;
    }
  }

  #newPlace(): number {
    this.#places += 1;
    return this.#places - 1;
  }
}

const PARTED = /[ (]/;
const NUMBERS = /#|\d+/g;
const SPACES = /\s+/g;

/** Written turns in the form that normalising gives a text. */
function plainOf(written: string): string {
  return written
    .normalize("NFKC")
    .replace(SPACES, " ")
    .replace(NUMBERS, NUMBER_MARKS[0])
    .replaceAll("$", MONEY_MARK);
}

function stepHash(place: number, unit: number): number {
  return mix(unit ^ Math.imul(place, 0x9e3779b1)) || 1;
}
