import { type Html, html } from "../foundation/html.ts";
import { directionOf, type Language } from "./language.ts";
import { readTexts } from "./texts.ts";
import type { Texts } from "./texts/en.ts";

/** A text that is one sentence, whatever the numbers in it. */
export type TextKey = { [Key in keyof Texts]: Texts[Key] extends string ? Key : never }[keyof Texts];
/** A text that changes with a number. */
type PluralKey = Exclude<keyof Texts, TextKey>;

type Values<Value> = Readonly<Record<string, Value>>;

/** Marks around a value that may run in another direction than its sentence. */
const ISOLATE = { begin: "\u2068", end: "\u2069" };

const NUMBERS = { useGrouping: false, maximumFractionDigits: 20 } as const;

/** The words of one language, as people read them. */
export class Wording {
  readonly language: Language;
  readonly #texts: Texts;
  readonly #plurals: Intl.PluralRules;
  #numbers: Intl.NumberFormat | null = null;

  /** For {@link wordingIn}: one for each language. */
  constructor(language: Language) {
    this.language = language;
    this.#texts = readTexts(language);
    this.#plurals = new Intl.PluralRules(language);
  }

  /** @param values by the names that the text has in braces. */
  text(key: TextKey, values: Values<string | number> = {}): string {
    return this.#fill(this.#texts[key], values);
  }

  /** @param count chooses the form of the text, and stands in it as `{count}`. */
  amount(key: PluralKey, count: number, values: Values<string> = {}): string {
    const forms = this.#texts[key];
    const text = typeof forms === "string" ? forms : (forms[this.#plurals.select(count)] ?? forms.other);
    return this.#fill(text, { count, ...values });
  }

  /** The text as markup, with markup in it. */
  html(key: TextKey, values: Values<Html>): Html {
    const parts = this.#texts[key].split(PLACE);
    return html`${parts.map((part, index) => (index % 2 === 1 ? values[part] : part))}`;
  }

  /** A number as people write it, ungrouped: `19,5`. */
  number(value: number): string {
    this.#numbers ??= new Intl.NumberFormat(`${this.language}-u-nu-latn`, NUMBERS);
    return this.#numbers.format(value);
  }

  #fill(text: string, values: Values<string | number>): string {
    const [begin, end] = directionOf(this.language) === "rtl" ? [ISOLATE.begin, ISOLATE.end] : ["", ""];
    return text.replace(PLACE, (_, name: string) => {
      const value = values[name];
      const written = typeof value === "number" ? this.number(value) : value;
      return name === "count" ? String(written) : `${begin}${written}${end}`;
    });
  }
}

/** Every second part of a text that is split by it is a name. */
const PLACE = /\{(\w+)\}/g;

const known = new Map<Language, Wording>();

/** Reads the texts of a language when it is first asked for. */
export function wordingIn(language: Language): Wording {
  let wording = known.get(language);
  if (wording === undefined) {
    wording = new Wording(language);
    known.set(language, wording);
  }
  return wording;
}
