import {
  CLOCK_READERS,
  ENVIRONMENT_READERS,
  FLAG_WRITERS,
  STREAM_USERS,
  SYSTEM_CLOCK_USERS,
} from "./file-reasons.ts";
import { ALLOWED_IMPORTS } from "./allowed-imports.ts";
import { PACKAGE_HOMES } from "./package-homes.ts";
import { folderOf, importsOf, resolveImport } from "./source-imports.ts";

/** A file of the repository; the path is relative to its top and has forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Says what breaks a rule in a file, one line for each violation; empty if the file keeps the rule. */
export type Rule = (file: SourceFile) => readonly string[];

/** The only file that may load the server: the command that serves. */
const MAY_IMPORT_SERVER = "src/cli/commands/serve-command.ts";

const VAGUE_NAMES = /^(?:utils?|helpers?|services?|index|common|misc|lib|shared|managers?|stuff)\b/;
const FILE_NAME =
  /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:generated|test|config|d))?\.(?:ts|js|c|py|sql|sh|json|md|txt|css)$/;

export const keepsImportTable: Rule = ({ path, text }) => {
  const from = folderOf(path);
  if (!path.startsWith("src/")) return [];
  const allowed = ALLOWED_IMPORTS[from];
  if (allowed === undefined) return [`${path}: the folder ${from} has no row in the import table`];
  return importsOf(text).flatMap(({ specifier }) => {
    if (!specifier.startsWith(".")) return [];
    const target = resolveImport(path, specifier);
    if (!target.startsWith("src/")) return target === "package.json" ? [] : [`${path}: imports ${target}`];
    const to = folderOf(target);
    if (to === from) return [];
    if (to === "server" && from === "cli" && path !== MAY_IMPORT_SERVER)
      return [`${path}: only serve may import server`];
    return allowed.includes(to) ? [] : [`${path}: ${from} may not import ${to} (${specifier})`];
  });
};

/** Finds each entry of the import table that no file uses, so that the table allows nothing that is not needed. */
export function findUnusedEdges(
  files: readonly SourceFile[],
  table: Readonly<Record<string, readonly string[]>> = ALLOWED_IMPORTS,
): readonly string[] {
  const used = new Set(
    files
      .filter(({ path }) => path.startsWith("src/"))
      .flatMap(({ path, text }) =>
        importsOf(text)
          .filter(({ specifier }) => specifier.startsWith("."))
          .map(({ specifier }) => `${folderOf(path)} ${folderOf(resolveImport(path, specifier))}`),
      ),
  );
  return Object.entries(table).flatMap(([from, allowed]) =>
    allowed
      .filter((to) => !used.has(`${from} ${to}`))
      .map((to) => `${from} may import ${to}, and no file of it does`),
  );
}

export const keepsPackageHomes: Rule = ({ path, text }) => {
  if (!path.startsWith("src/")) return [];
  return importsOf(text).flatMap(({ specifier, typesOnly }) => {
    if (typesOnly || specifier.startsWith(".") || specifier.startsWith("node:")) return [];
    const name = specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/");
    const homes = PACKAGE_HOMES[name];
    if (homes === undefined) return [`${path}: the package ${name} has no home yet`];
    return homes.some((home) => path.startsWith(home))
      ? []
      : [`${path}: ${name} belongs in ${homes.join(", ")}`];
  });
};

export const hasPlainName: Rule = ({ path }) => {
  if (!/^(?:src|test|scripts)\//.test(path)) return [];
  const name = path.split("/").at(-1) ?? "";
  const problems: string[] = [];
  if (!FILE_NAME.test(name)) problems.push(`${path}: names are lower-case words with hyphens`);
  if (path.split("/").some((part) => VAGUE_NAMES.test(part))) problems.push(`${path}: the name says nothing`);
  return problems;
};

export const readsEnvironmentInPlace: Rule = onlyIn(
  ENVIRONMENT_READERS,
  /\bprocess\.env\b/,
  "reads the environment",
);

export const writesStreamsInPlace: Rule = onlyIn(
  STREAM_USERS,
  /\bprocess\.(?:stdout|stderr)\b|\bconsole\./,
  "touches the program's streams",
);

export const usesGivenClock: Rule = onlyIn(
  SYSTEM_CLOCK_USERS,
  /\bsystemClock\b/,
  "uses the machine's clock; take the one that is handed in",
);

export const asksGivenClock: Rule = onlyIn(
  CLOCK_READERS,
  /\bDate\.now\(|\bnew Date\(\)|\bDate\(\)/,
  "reads the machine's clock",
);

/**
 * Features must not name flags, because a page shows the same messages. They give a hint, which the command line puts into its own words.
 */
export const leavesFlagsToCommands: Rule = (file) =>
  file.path.startsWith("src/cli/") || file.path.endsWith(".generated.ts") ? [] : namesNoFlag(file);

const namesNoFlag = onlyIn(
  FLAG_WRITERS,
  /(?<![\w-])--[a-z]/,
  "names a flag; leave a hint, which src/cli/output/hints.ts puts into words",
);

/** Files whose messages go to clients over HTTP or to pages only, and never to a terminal. */
const SENTENCES_ONLY =
  /^src\/(?:http|dashboard|mcp|sessions|submissions\/(?:receive|commit)|files\/(?:file-room|uploads)\.|mail\/recipients\/agree-to-mail\.|submissions\/files\/linked-files\.)/;
const MESSAGE = /\bnew FormsvcError\(\s*[^,()]+,\s*(["`])(?<message>[^"`]*)\1/g;
/** A message may begin with the name of an environment variable, which is in capitals. */
const SENTENCE = /^(?![A-Z]{2,} )[A-Z]|\.$/;

/**
 * The messages of features must begin small and end without a full stop, because a terminal shows them as they are. Pages make sentences of
 * them.
 */
export const beginsMessagesSmall: Rule = ({ path, text }) => {
  if (!path.startsWith("src/") || SENTENCES_ONLY.test(path)) return [];
  return [...text.matchAll(MESSAGE)]
    .map((found) => found.groups?.["message"] ?? "")
    .filter((message) => SENTENCE.test(message))
    .map((message) => `${path}: begin it small, and without a full stop: ${message}`);
};

export const isFinished: Rule = (file) =>
  linesWith(file, /\b(?:TODO|FIXME|XXX|HACK)\b/).map((place) => `${place} is left to do`);

/** A test may be skipped only with `skipIf` or `runIf`, which name a reason. */
export const runsEveryTest: Rule = ({ path, text }) =>
  path.endsWith(".test.ts") && /\b(?:test|it|describe)(?:\.\w+)*\.(?:only|skip|todo|fails)\b\s*\(/.test(text)
    ? [`${path}: a test is left out or run alone`]
    : [];

/** Files that may have their own units of time. The browser's scripts import nothing of ours. */
const HAS_OWN_UNITS = /^(?:src\/foundation\/time-units\.ts$|src\/browser\/|test\/tidy\/source-rules\.)/;
const TIME_UNIT = new RegExp(
  [
    String.raw`\bconst (?:second|minute|hour|day|week)(?:s?_(?:ms|seconds))? = [\w *]*(?:\b1000|_000|\b86_400|\b3600|_MS)\b[\w *]*;`,
    String.raw`\* (?:60_000|3_600_000|86_400_000)\b`,
  ].join("|"),
  "i",
);

/** Files must use the shared units of time, so that a day has the same length everywhere. */
export const takesTimeUnits: Rule = (file) =>
  HAS_OWN_UNITS.test(file.path)
    ? []
    : linesWith(file, TIME_UNIT).map((place) => `${place} has a unit of src/foundation/time-units.ts`);

/** A file must work on every machine. Therefore it must not name a registry's host, or a folder of the machine on which it was written. */
export const fitsEveryMachine: Rule = (file) =>
  linesWith(file, FOREIGN).map((place) => `${place} names a registry or a machine's folder`);

const FOREIGN = new RegExp(
  [
    String.raw`\bregistry\.[a-z]+\.[a-z]+|\bnpmjs\.(?:org|com)\b|\b(?:static\.)?crates\.io\b|\bpypi\.org\b`,
    String.raw`(?<![\w.])/(?:work|root|home/[a-z]+|Users/[a-z]+)/`,
  ].join("|"),
);

/** This file and its test must contain what they look for. */
const OWN_FILES = /^test\/tidy\/source-rules\./;

function linesWith({ path, text }: SourceFile, what: RegExp): string[] {
  if (OWN_FILES.test(path)) return [];
  return text.split("\n").flatMap((line, index) => (what.test(line) ? [`${path}:${index + 1}`] : []));
}

function onlyIn(places: Readonly<Record<string, string>>, what: RegExp, problem: string): Rule {
  return ({ path, text }) => {
    if (!path.startsWith("src/") || Object.hasOwn(places, path) || !what.test(withoutComments(text)))
      return [];
    return [`${path}: ${problem}; allowed are ${Object.keys(places).join(", ")}`];
  };
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}
