import { type Html, html } from "../foundation/html.ts";
import { directionOf, type Language } from "./language.ts";
import { readTexts } from "./texts.ts";
import type { Texts } from "./texts/en.ts";

/** The key of a text that does not change with a number. */
export type TextKey = { [Key in keyof Texts]: Texts[Key] extends string ? Key : never }[keyof Texts];
/** The key of a text that changes with a number. */
type PluralKey = Exclude<keyof Texts, TextKey>;

type Values<Value> = Readonly<Record<string, Value>>;

/** Marks around a value whose text may run in another direction than its sentence. */
const ISOLATE = { begin: "\u2068", end: "\u2069" };

const NUMBERS = { useGrouping: false, maximumFractionDigits: 20 } as const;

/** The texts of one language, with their values filled in. */
export class Wording {
  readonly language: Language;
  readonly #texts: Texts;
  readonly #plurals: Intl.PluralRules;
  #numbers: Intl.NumberFormat | null = null;

  /** Only {@link wordingIn} calls this: there is one for each language. */
  constructor(language: Language) {
    this.language = language;
    this.#texts = readTexts(language);
    this.#plurals = new Intl.PluralRules(language);
  }

  /** @param values the values by the names that the text has in braces */
  text(key: TextKey, values: Values<string | number> = {}): string {
    return this.#fill(this.#texts[key], values);
  }

  /** @param count chooses the form of the text, and is its value `{count}` */
  amount(key: PluralKey, count: number, values: Values<string> = {}): string {
    const forms = this.#texts[key];
    const text = typeof forms === "string" ? forms : (forms[this.#plurals.select(count)] ?? forms.other);
    return this.#fill(text, { count, ...values });
  }

  /** The text as markup, with values that are markup. */
  html(key: TextKey, values: Values<Html>): Html {
    const parts = this.#texts[key].split(PLACE);
    return html`${parts.map((part, index) => (index % 2 === 1 ? values[part] : part))}`;
  }

  /** A number as people write it in this language, without grouping: `19,5`. */
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

/** Splits a text so that every second part is a name. */
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
