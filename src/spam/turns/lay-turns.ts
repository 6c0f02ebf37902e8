import { MONEY_MARK, NUMBER_MARKS } from "../normalise-text.ts";
import { partsOf, splitOutside } from "./choices.ts";
import { type Meaning, MEANINGS, type Turns } from "./meanings.ts";
import { spellingsOf } from "./spellings.ts";
import { ANY, readUnits } from "./units.ts";

/** Turns as steps: each unit leads from one place to the next, in the order in which they are tried. */
export interface LaidTurns {
  /** A step has one number in each of three arrays: here its first place, in `units` what leads on, in `targets` its last place. */
  readonly origins: Readonly<Uint32Array>;
  readonly units: Readonly<Uint32Array>;
  readonly targets: Readonly<Uint32Array>;
  /** For each place the number of the meaning of the turn that ends there; 0 if none does. */
  readonly meanings: Readonly<Uint8Array>;
}

/** The place where every turn begins. */
export const START = 0;

/** Takes some 60 ms and 20 MB for all languages. */
export function layTurns(languages: readonly Turns[]): LaidTurns {
  const layer = new Layer();
  for (const turns of languages) {
    for (const [meaning, written] of Object.entries(turns)) {
      for (const turn of splitOutside(plainOf(written), ",")) layer.layTurn(turn, meaning as Meaning);
    }
  }
  return layer.laid();
}

class Layer {
  readonly #origins: number[] = [];
  readonly #units: number[] = [];
  readonly #targets: number[] = [];
  readonly #meanings: number[] = [0];

  laid(): LaidTurns {
    return {
      origins: Uint32Array.from(this.#origins),
      units: Uint32Array.from(this.#units),
      targets: Uint32Array.from(this.#targets),
      meanings: Uint8Array.from(this.#meanings),
    };
  }

  layTurn(written: string, meaning: Meaning): void {
    for (const end of this.#lay(written, [START], this.#newPlace())) {
      if (end === START) throw new Error(`a turn may be empty: ${written}`);
      this.#meanings[end] = MEANINGS.indexOf(meaning) + 1;
    }
  }

  /**
   * Lays a turn that begins at each of the places `from` and ends at `to`.
   *
   * @returns all places at its end. If its last part may be left out, the place before that part is one of them.
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
      this.#origins.push(place);
      this.#units.push(unit);
      this.#targets.push(to);
    }
  }

  #newPlace(): number {
    this.#meanings.push(0);
    return this.#meanings.length - 1;
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
