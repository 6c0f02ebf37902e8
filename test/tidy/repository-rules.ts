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

/** Checks the names and the order of migrations. @param first the number of the first one */
export function checkMigrationNames(names: readonly string[], first = 1): readonly string[] {
  return [...names].sort().flatMap((name, index) => {
    const wanted = String(first + index).padStart(4, "0");
    if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(name)) return [`${name}: is not named 0001-words.sql`];
    return name.startsWith(`${wanted}-`) ? [] : [`${name}: should have the number ${wanted}`];
  });
}

/** Checks that a script can be run, and no other file. @param mode the file's mode as the file system gives it */
export function checkRunBit(file: SourceFile, mode: number): readonly string[] {
  const isScript = file.text.startsWith("#!");
  const runs = (mode & 0o111) !== 0;
  if (isScript === runs) return [];
  return [
    `${file.path}: ${isScript ? "begins with #! and cannot be run" : "can be run and does not begin with #!"}`,
  ];
}

/** Folders of test/ whose tests do not belong to one folder of src/. */
const LEVELS: ReadonlySet<string> = new Set([
  // Tests of the program as its users have it.
  "browser",
  "executable",
  "recipes",
  // Tests of faults below the program, and of what a release installs.
  "faults",
  "install",
  // Tests of the tests' own parts, and of the repository.
  "support",
  "tidy",
]);
/**
 * Folders whose features (commands, pages, requests, servers and posts) use all other folders. A test there may test any of them from
 * outside.
 */
const DOORS: ReadonlySet<string> = new Set(["cli", "dashboard", "http", "server", "submissions"]);

/** Checks that each test file is in the folder that its name and the folders of src/ require. */
export function checkTestPlaces(paths: readonly string[]): readonly string[] {
  const sources = paths.filter((path) => path.startsWith("src/") && path.endsWith(".ts"));
  const folders = new Set(sources.flatMap((path) => withParents(foldersOf(path).slice(1))));
  return paths
    .filter((path) => path.startsWith("test/") && path.endsWith(".test.ts"))
    .flatMap((path) => {
      const [, top = "", ...below] = foldersOf(path);
      if (LEVELS.has(top)) return [];
      if (!folders.has([top, ...below].join("/")))
        return [`${path}: src has no folder ${[top, ...below].join("/")}`];
      const name = path.slice(path.lastIndexOf("/") + 1, -".test.ts".length);
      const tested = sources.filter((source) => source.endsWith(`/${name}.ts`)).map((it) => it.split("/")[1]);
      const isHere = tested.length === 0 || tested.includes(top) || DOORS.has(top);
      return isHere ? [] : [`${path}: tests of ${name}.ts belong to test/${String(tested[0])}`];
    });
}

function foldersOf(path: string): readonly string[] {
  return path.split("/").slice(0, -1);
}

function withParents(folders: readonly string[]): readonly string[] {
  return folders.map((_, index) => folders.slice(0, index + 1).join("/"));
}
