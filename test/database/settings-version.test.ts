import { describe, expect, test } from "vitest";
import { raiseSettingsVersion, readSettingsSince } from "../../src/database/settings-version.ts";
import { ENGINES, rowsOf, write } from "../support/engines.ts";

describe.each(ENGINES)("changes of settings on $name", ({ temporary }) => {
  test("name what they are about, for each version from which somebody asks", async () => {
    const db = await temporary();
    const since = (seen: number | null) => db.read(() => readSettingsSince(seen));
    const raise = (...subjects: readonly string[]) =>
      db.transaction(function* () {
        for (const subject of subjects) yield* raiseSettingsVersion(subject);
      });
    const { version } = await since(null);
    await raise("ep_1", "rows");
    expect(await since(version)).toEqual({ version: version + 2, changed: new Set(["ep_1", "rows"]) });
    expect(await since(version + 1)).toEqual({ version: version + 2, changed: new Set(["rows"]) });
    expect((await since(version + 2)).changed).toEqual(new Set());
    expect((await since(null)).changed).toBeNull();
    await raise("everything");
    expect((await since(version + 2)).changed).toBeNull();
    // As a program of an earlier version does it.
    await write(db, "UPDATE settings_version SET version = version + 1");
    expect((await since(version + 3)).changed).toBeNull();
    expect((await since(version + 9)).changed).toBeNull();
  });

  test("are kept for the last thousand, and who has missed more is told that anything may have changed", async () => {
    const db = await temporary();
    const { version } = await db.read(() => readSettingsSince(null));
    await db.transaction(function* () {
      for (let count = 0; count < 1001; count += 1) yield* raiseSettingsVersion(`ep_${count}`);
    });
    const { changed } = await db.read(() => readSettingsSince(version + 1));
    expect(changed?.size).toBe(1000);
    expect((await db.read(() => readSettingsSince(version))).changed).toBeNull();
    expect(await rowsOf(db, "SELECT slot FROM settings_change")).toHaveLength(1000);
  });
});
