import type { SourceFile } from "./source-rules.ts";

export function checkTopLevel(entries: readonly string[]): readonly string[] {
  return entries
    .filter((entry) => !TOP_LEVEL.has(entry))
    .map((entry) => `${entry}: has no place at the top level`);
}

const TOP_LEVEL = new Set([
  "package.json",
  "tsconfig.json",
  "src",
  "migrations",
  "scripts",
  "test",
  "formsvc.config.example.json",
  "README.md",
  "package-lock.json",
  ".npmrc",
  ".gitignore",
  ".ci",
  "LICENSE",
  "CHANGELOG.md",
  "docs",
]);

/** @param first the number that they begin with. */
export function checkMigrationNames(names: readonly string[], first = 1): readonly string[] {
  return [...names].sort().flatMap((name, index) => {
    const wanted = String(first + index).padStart(4, "0");
    if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(name)) return [`${name}: is not named 0001-words.sql`];
    return name.startsWith(`${wanted}-`) ? [] : [`${name}: should have the number ${wanted}`];
  });
}

/** @param mode the file's mode as the file system gives it. */
export function checkRunBit(file: SourceFile, mode: number): readonly string[] {
  const isScript = file.text.startsWith("#!");
  const runs = (mode & 0o111) !== 0;
  if (isScript === runs) return [];
  return [
    `${file.path}: ${isScript ? "begins with #! and cannot be run" : "can be run and does not begin with #!"}`,
  ];
}
