import { describe, expect, test } from "vitest";
import { type FormDayNews, noteOwnerNotified, readOwnerNotified } from "../../src/files/form-days.ts";
import { addPlace } from "../support/batch-world.ts";
import { ENGINES } from "../support/engines.ts";

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("what an owner was told of a form's day is noted once, and of each day for itself", async () => {
    const db = await temporary();
    const { endpointId, workspaceId } = await addPlace(db);
    const of = (day: string) => ({
      day,
      endpointId,
      endpointName: "Contact",
      workspaceId,
      bytes: 1,
      wasFull: false,
    });
    const note = (day: string, what: FormDayNews) => db.transaction(() => noteOwnerNotified(of(day), what));
    const told = async (day: string) => [...(await db.read(() => readOwnerNotified(of(day))))].toSorted();
    expect(await note("2026-06-15", "near")).toBe(true);
    expect(await note("2026-06-15", "near")).toBe(false);
    expect(await told("2026-06-15")).toEqual(["near"]);
    expect(await note("2026-06-15", "full")).toBe(true);
    expect(await told("2026-06-15")).toEqual(["full", "near"]);
    expect(await told("2026-06-16")).toEqual([]);
    expect(await note("2026-06-16", "near")).toBe(true);
  });
});
