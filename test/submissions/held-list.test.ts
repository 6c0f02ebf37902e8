import { describe, expect, test } from "vitest";
import { listHeld } from "../../src/submissions/held/held-operations.ts";
import { threeOwnersOn } from "../support/actors.ts";
import { ENGINES } from "../support/engines.ts";
import { performOn } from "../support/terminal.ts";

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("the list of held posts is empty if none is held", async () => {
    const db = await temporary();
    await threeOwnersOn(db);
    expect(await performOn(db, listHeld, {})).toEqual({ data: [], next_cursor: null });
  });
});
