import type { Command } from "commander";

/** A flag and its meaning. Its value has the flag's name in camel case, and the type of {@link ValueOf}. */
export interface OptionSpec {
  /** `--dry-run`, `--limit <count>`, or `--no-color` beside `--color`. */
  readonly flags: string;
  readonly summary: string;
  readonly required?: boolean;
  /** Whether the flag may be given several times; the value is then a list of texts. */
  readonly repeatable?: boolean;
  readonly choices?: readonly string[];
  /** Turns the text into a value, or throws with `refuse`. */
  readonly parse?: (text: string) => unknown;
}

/** The values that an action gets, by the names of the flags in camel case. */
export type OptionValues<Options extends readonly OptionSpec[]> = {
  readonly [Each in Options[number] as NameOf<Each["flags"]>]: ValueOf<Each>;
};

/** `--allow-origin <origin>` is `allowOrigin`, and so is `--no-allow-origin`. */
type NameOf<Flags extends string> = Flags extends `--no-${infer Name}`
  ? CamelCase<Name>
  : Flags extends `--${infer Name} <${string}>`
    ? CamelCase<Name>
    : Flags extends `--${infer Name}`
      ? CamelCase<Name>
      : never;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** Null if the flag was not given. A flag without a value is true or false; it is null too if it has a `--no-` form beside it. */
type ValueOf<Option extends OptionSpec> = Option extends { readonly flags: `--no-${string}` }
  ? null
  : Option extends { readonly flags: `${string}<${string}>` }
    ? Given<Option> | (Option extends { readonly required: true } ? never : null)
    : boolean;

type Given<Option extends OptionSpec> = Option extends { readonly repeatable: true }
  ? readonly string[]
  : Option extends { readonly parse: (text: string) => infer Value }
    ? Value
    : Option extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string;

/** The words after a command's name: `<file>` is a text, `[file]` may be undefined, `<file...>` is one text or more. */
export type ArgumentValues<Usage extends string> = Usage extends `${string} ${infer Names}`
  ? WordValues<Names>
  : readonly [];

type WordValues<Names extends string> = Names extends `${infer Name} ${infer Rest}`
  ? readonly [...WordValue<Name>, ...WordValues<Rest>]
  : WordValue<Names>;

type WordValue<Name extends string> = Name extends `<${string}...>`
  ? readonly string[]
  : Name extends `<${string}>`
    ? readonly [string]
    : readonly [string | undefined];

/** Makes the values of {@link OptionValues}, because commander leaves out flags that were not given. */
export function valuesOf(command: Command): Readonly<Record<string, unknown>> {
  const given = command.opts();
  const negated = new Set(
    command.options.filter(({ negate }) => negate).map((option) => option.attributeName()),
  );
  return Object.fromEntries(
    command.options.map((option) => {
      const name = option.attributeName();
      return [name, given[name] ?? (option.isBoolean() && !negated.has(name) ? false : null)];
    }),
  );
}
