import { Command } from "commander";
import { expect, expectTypeOf, test } from "vitest";
import { parseCount } from "../../src/cli/flags/arguments.ts";
import { addCommand, command } from "../../src/cli/command.ts";

const OPTIONS = [
  { flags: "--name <name>", summary: "", required: true },
  { flags: "--allow-origin <origin>", summary: "", repeatable: true },
  { flags: "--max-links <count>", summary: "", parse: parseCount(9) },
  { flags: "--kind <kind>", summary: "", choices: ["secret", "publishable"] },
  { flags: "--dry-run", summary: "" },
  { flags: "--allow-private", summary: "" },
  { flags: "--no-allow-private", summary: "" },
] as const;

/** The options and the words that an action gets for a command line, as one value. */
async function received(...line: string[]): Promise<unknown> {
  let values: unknown;
  const spec = command({
    usage: "make <first> [second]",
    summary: "",
    options: OPTIONS,
    action: (_context, options, [first, second]) => {
      const { name, allowOrigin, maxLinks, kind, dryRun, allowPrivate } = options;
      expectTypeOf(name).toEqualTypeOf<string>();
      expectTypeOf(allowOrigin).toEqualTypeOf<readonly string[] | null>();
      expectTypeOf(maxLinks).toEqualTypeOf<number | null>();
      expectTypeOf(kind).toEqualTypeOf<"secret" | "publishable" | null>();
      expectTypeOf(dryRun).toEqualTypeOf<boolean>();
      expectTypeOf(allowPrivate).toEqualTypeOf<boolean | null>();
      expectTypeOf(first).toEqualTypeOf<string>();
      expectTypeOf(second).toEqualTypeOf<string | undefined>();
      // @ts-expect-error a misspelt name is no option
      expect(options.alowOrigin).toBeUndefined();
      values = { name, allowOrigin, maxLinks, kind, dryRun, allowPrivate, first, second };
    },
  });
  const program = new Command().exitOverride();
  addCommand(program, spec);
  await program.parseAsync(["make", ...line], { from: "user" });
  return values;
}

test("an action gets each option under its flag's name, with the value that the type promises", async () => {
  expect(await received("a", "--name", "x")).toEqual({
    name: "x",
    allowOrigin: null,
    maxLinks: null,
    kind: null,
    dryRun: false,
    allowPrivate: null,
    first: "a",
    second: undefined,
  });
  const several = ["--allow-origin", "o", "--allow-origin", "p", "--max-links", "3", "--kind", "secret"];
  expect(await received("a", "b", "--name", "x", ...several, "--dry-run", "--no-allow-private")).toEqual({
    name: "x",
    allowOrigin: ["o", "p"],
    maxLinks: 3,
    kind: "secret",
    dryRun: true,
    allowPrivate: false,
    first: "a",
    second: "b",
  });
  expect(await received("a", "--name", "x", "--allow-private")).toMatchObject({ allowPrivate: true });
});

test("an action gets the words of a list as texts", async () => {
  let given: readonly string[] = [];
  const spec = command({
    usage: "drop <held...>",
    summary: "",
    action: (_context, _options, ids) => {
      expectTypeOf(ids).toEqualTypeOf<readonly string[]>();
      given = ids;
    },
  });
  const program = new Command().exitOverride();
  addCommand(program, spec);
  await program.parseAsync(["drop", "a", "b"], { from: "user" });
  expect(given).toEqual(["a", "b"]);
});
