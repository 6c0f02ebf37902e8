import { mix } from "../hashing.ts";
import { type CompiledPhrases, START } from "./compile-phrases.ts";
import { type Meaning, MEANINGS } from "./meanings.ts";
import { ANY, type Tokens } from "./text-tokens.ts";

/**
 * The size of a hash table with open addressing. Its key is the state and the token of a transition; its value is the first transition with
 * this key, counted from 1, or 0 for a free slot.
 */
const SLOTS = 131_072;

/** Finds phrases in a sequence of tokens. Each token leads from one state of the automaton to the next. */
export class PhraseAutomaton {
  readonly #compiled: CompiledPhrases;
  /** The hash table: the first transition of each key, counted from 1; 0 is a free slot. */
  readonly #firsts = new Uint32Array(SLOTS);
  /** For each transition the next one with the same state and token, counted from 1; 0 if there is none. */
  readonly #nexts: Uint32Array;
  /** States with a transition for any token. */
  readonly #open = new Set<number>();

  constructor(compiled: CompiledPhrases) {
    this.#compiled = compiled;
    this.#nexts = new Uint32Array(compiled.origins.length);
    // Very many phrases begin with the same words. So each transition stores the next one with the same key, and none has to be searched
    // for.
    const lasts = new Uint32Array(SLOTS);
    for (let transition = 0; transition < compiled.origins.length; transition += 1) {
      const [state = 0, token = 0] = [compiled.origins[transition], compiled.tokens[transition]];
      if (token === ANY) this.#open.add(state);
      const slot = this.#slotOf(state, token);
      const last = lasts[slot] ?? 0;
      if (last === 0) this.#firsts[slot] = transition + 1;
      else this.#nexts[last - 1] = transition + 1;
      lasts[slot] = transition + 1;
    }
  }

  /**
   * Follows the transitions from a token on. Returns the meaning of a phrase that begins there, and the index of the first token after it;
   * null if no phrase begins there.
   */
  follow(read: Tokens, at: number, state = START): { meaning: Meaning; end: number } | null {
    const meaning = MEANINGS[(this.#compiled.meanings[state] ?? 0) - 1];
    if (meaning !== undefined) return { meaning, end: at };
    if (at >= read.count) return null;
    const found = this.#follow(read, at, state, read.tokens[at] ?? 0);
    return found ?? (this.#open.has(state) ? this.#follow(read, at, state, ANY) : null);
  }

  #follow(read: Tokens, at: number, state: number, token: number): { meaning: Meaning; end: number } | null {
    let next = this.#firsts[this.#slotOf(state, token)] ?? 0;
    for (; next !== 0; next = this.#nexts[next - 1] ?? 0) {
      const found = this.follow(read, at + 1, this.#compiled.targets[next - 1]);
      if (found !== null) return found;
    }
    return null;
  }

  /** The slot of the first transition with this state and token, or the free slot for it. */
  #slotOf(state: number, token: number): number {
    const { origins, tokens } = this.#compiled;
    let slot = mix(token ^ Math.imul(state, 0x9e3779b1)) % SLOTS;
    for (let first = this.#firsts[slot] ?? 0; first !== 0; first = this.#firsts[slot] ?? 0) {
      if (origins[first - 1] === state && tokens[first - 1] === token) break;
      slot = (slot + 1) % SLOTS;
    }
    return slot;
  }
}
