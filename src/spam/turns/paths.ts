import { mix } from "../hashing.ts";
import { partsOf, splitOutside, withWholeWords } from "./choices.ts";
import { type Meaning, type Turns } from "./meanings.ts";
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
  /** The meaning of the turn that ends at each place; null at all others. */
  readonly #meanings: (Meaning | null)[] = [null];
  /** Places from which any unit leads on. */
  readonly #open = new Set<number>();
  /** Words that have been laid: most come again. */
  readonly #spelled = new Map<string, readonly Uint32Array[]>();

  constructor(languages: readonly Turns[]) {
    for (const turns of languages) {
      for (const [meaning, written] of Object.entries(turns)) {
        for (const turn of splitOutside(written, ",")) this.#layTurn(turn, meaning as Meaning);
      }
    }
    this.#spelled.clear();
  }

  /** The place at which a turn that starts with a unit ends, and the unit behind it; null if none starts there. */
  follow(read: Units, at: number, place = START): { meaning: Meaning; end: number } | null {
    const meaning = this.#meanings[place];
    if (meaning) return { meaning, end: at };
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
    const turn = written.normalize("NFKC").replace(NUMBERS, NUMBER_MARK).replaceAll("$", MONEY_MARK);
    for (const whole of withWholeWords(turn)) {
      for (const end of this.#lay(whole, [START], this.#newPlace())) {
        if (end === START) throw new Error(`a turn may be empty: ${written}`);
        this.#meanings[end] = meaning;
      }
    }
  }

  /** Lays a turn from each of these places to another. @returns where it ends: there, and before choices of nothing at its end. */
  #lay(turn: string, from: readonly number[], to: number): readonly number[] {
    const parts = partsOf(turn);
    let places = from;
    parts.forEach((part, index) => {
      const next = index === parts.length - 1 ? to : this.#newPlace();
      if (typeof part === "string") places = this.#layWord(part, places, next);
      else places = [...new Set(part.flatMap((choice) => this.#lay(choice, places, next)))];
    });
    return places;
  }

  /** A word is one unit, or each of its letters is, in scripts without spaces. */
  #layWord(word: string, from: readonly number[], to: number): readonly number[] {
    if (word === "*") {
      this.#layStep(from, ANY, to);
      for (const place of from) this.#open.add(place);
      return [to];
    }
    for (const units of this.#unitsOf(word)) {
      let places = from;
      units.forEach((unit, index) => {
        const next = index === units.length - 1 ? to : this.#newPlace();
        this.#layStep(places, unit, next);
        places = [next];
      });
    }
    return [to];
  }

  /** The units of each spelling of a word. */
  #unitsOf(word: string): readonly Uint32Array[] {
    let units = this.#spelled.get(word);
    if (units === undefined) {
      units = spellingsOf(word).map((spelling) => {
        const read = readUnits(spelling);
        return read.units.slice(0, read.count);
      });
      this.#spelled.set(word, units);
    }
    return units;
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
    return this.#meanings.push(null) - 1;
  }
}

const NUMBERS = /#|\d+/g;
const NUMBER_MARK = "\ue003";
const MONEY_MARK = "\ue002";

function stepHash(place: number, unit: number): number {
  return mix(unit ^ Math.imul(place, 0x9e3779b1)) || 1;
}
