import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeNames } from "../../src/config/database-names.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function fileWith(content: unknown): string {
  const file = join(temporaryFolder(), "formsvc.config.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe("a database that is named as a file and as an address", () => {
  const url = "postgresql://ada@db.example/forms";

  test("in one place is refused, with what to do", () => {
    expect(() => loadConfig(fileWith({ database: { path: "own.db", url } }), {})).toThrow(
      /formsvc\.config\.json: database\.path and database\.url are both set; keep the one that is meant/,
    );
    const both = { FORMSVC_DATABASE_PATH: "own.db", FORMSVC_DATABASE_URL: url };
    expect(() => loadConfig(fileWith({}), both)).toThrow(
      "FORMSVC_DATABASE_PATH and FORMSVC_DATABASE_URL are both set; unset the one that is not meant",
    );
  });

  test("in two places is that of the environment, and both places are named", () => {
    const byPath = loadConfig(fileWith({ database: { url } }), { FORMSVC_DATABASE_PATH: "own.db" });
    expect(byPath.config.database).toMatchObject({ path: "own.db", url: null });
    expect(describeNames(byPath.databaseNames, "path")).toMatch(
      /^the database is that of FORMSVC_DATABASE_PATH; database\.url in .*formsvc\.config\.json is not used$/,
    );
    const byUrl = loadConfig(fileWith({ database: { path: "own.db" } }), { FORMSVC_DATABASE_URL: url });
    expect(byUrl.config.database.url).toBe(url);
    expect(describeNames(byUrl.databaseNames, "url")).toMatch(
      /^the database is that of FORMSVC_DATABASE_URL; database\.path in .*formsvc\.config\.json is not used$/,
    );
  });

  test("once only is no reason for a word, and an empty variable takes a path back", () => {
    const file = fileWith({ database: { path: "own.db", url: null } });
    expect(describeNames(loadConfig(file, {}).databaseNames, "path")).toBeNull();
    const { config } = loadConfig(fileWith({}), { FORMSVC_DATABASE_PATH: "", FORMSVC_DATABASE_URL: url });
    expect(config.database).toMatchObject({ path: "./formsvc.db", url });
  });
});
