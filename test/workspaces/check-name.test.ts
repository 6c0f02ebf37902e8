import { expect, test } from "vitest";
import { checkName } from "../../src/workspaces/workspace.ts";

test("a name has no control character and no mark that turns the direction of what stands behind it", () => {
  const turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";
  for (const char of ["\u0000", "\n", "\u009f", ...Array.from(turning)])
    expect(() => checkName(`Con${char}tact`), JSON.stringify(char)).toThrow(
      "the name has a control character or a mark that turns the direction of text",
    );
  // Marks without an effect on other words are part of Hebrew, Arabic and Persian.
  for (const name of ["טופס\u200f (חדש)", "نموذج", "می\u200cخواهم", "Contact"])
    expect(checkName(name)).toBe(name);
});
