/** The flags that every command has, and whether a value follows. */
const COMMON: Readonly<Record<string, { readonly hasValue: boolean }>> = {
  "--config": { hasValue: true },
  "--db": { hasValue: true },
  "--server": { hasValue: true },
  "--json": { hasValue: false },
  "--quiet": { hasValue: false },
};

/**
 * Moves common flags after the command's name, because commander accepts them only there: `--db F endpoint list` and `endpoint --db F list`
 * become `endpoint list --db F`.
 */
export function commonFlagsLast(args: readonly string[]): readonly string[] {
  const early: string[] = [];
  const name: string[] = [];
  let at = 0;
  for (let word = args[at]; word !== undefined && name.length < 2; word = args[at]) {
    const length = flagLength(word);
    if (length > 0) early.push(...args.slice(at, at + length));
    else if (word.startsWith("-")) break;
    else name.push(word);
    at += Math.max(1, length);
  }
  // Flags without a command are not moved, so that the messages about them are clear.
  return name.length === 0 ? args : [...name, ...early, ...args.slice(at)];
}

/** The number of words of a common flag, including its value; 0 if the word is no common flag. */
function flagLength(word: string): number {
  const [flag = "", ...values] = word.split("=");
  const common = Object.hasOwn(COMMON, flag) ? COMMON[flag] : undefined;
  if (common === undefined || (!common.hasValue && values.length > 0)) return 0;
  return common.hasValue && values.length === 0 ? 2 : 1;
}
