import { mix } from "../hashing.ts";
import { type CompiledPhrases, START } from "./compile-phrases.ts";
import { type Meaning, MEANINGS } from "./meanings.ts";
import { ANY, type Tokens } from "./text-tokens.ts";

/** Open addressing by the state and the token of a transition, which say where the first transition of them is; 0 is free. */
const SLOTS = 131_072;

/** Finds phrases: each token is a transition from one state to the next. */
export class PhraseAutomaton {
  readonly #compiled: CompiledPhrases;
  /** The number of a transition, and one more. */
  readonly #firsts = new Uint32Array(SLOTS);
  /** For each transition the next one from the same state by the same token, and one more; 0 if there is none. */
  readonly #nexts: Uint32Array;
  /** States from which any token leads on. */
  readonly #open = new Set<number>();

  constructor(compiled: CompiledPhrases) {
    this.#compiled = compiled;
    this.#nexts = new Uint32Array(compiled.origins.length);
    // Very many phrases begin with the same words, so each transition knows the next one, and none is searched for.
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

  /** The meaning of a phrase that begins at a token, and the number of the token behind it; null if none begins there. */
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

  /** Where the first transition from a state by a token stands, or would stand. */
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
