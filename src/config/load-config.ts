import { readFileSync } from "node:fs";
import { z } from "zod";
import { FormsvcError } from "../foundation/errors.ts";
import { sayJsonFault } from "../foundation/json-fault.ts";
import { type Config, configSchema, defaultConfig, planName, secretPaths } from "./config.ts";
import { depthOf, repeatedMembers } from "../foundation/repeated-members.ts";
import { type DatabaseNames, nameTheDatabase } from "./database-names.ts";
import { describeProblems } from "./describe-problem.ts";
import { refuseForeignOwner } from "./foreign-owner.ts";

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
type JsonObject = { [member: string]: Json };
type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration that the schema refused. */
interface Refused {
  readonly source: string;
  readonly error: z.ZodError;
  readonly config: Json;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file that was read; null if only built-in defaults are used. */
  readonly file: string | null;
  /** The paths of the secrets in that file, even if a variable overrides them. */
  readonly secretsInFile: readonly string[];
  /** The environment variables that set something, in the order of the settings. */
  readonly variables: readonly string[];
  readonly databaseNames: DatabaseNames;
  /** `FORMSVC_…` variables that name no setting and are not read. Most likely they are misspelt. */
  readonly unknownVariables: readonly string[];
}

/** Our variables that are not settings: the path of the file, the server of commands, and what `endpoint create --env` prints. */
const OTHER_VARIABLES = new Set([
  "FORMSVC_CONFIG",
  "FORMSVC_SERVER",
  "FORMSVC_TOKEN",
  "FORMSVC_ENDPOINT_ID",
  "FORMSVC_SECRET_KEY",
  "FORMSVC_PUBLISHABLE_KEY",
]);

/** The paths that are tried, in this order, if neither `--config` nor `FORMSVC_CONFIG` names a file. */
const DEFAULT_FILES = ["./formsvc.config.json", "/etc/formsvc/formsvc.config.json"];

/**
 * Loads the configuration: the built-in defaults, overlaid by the configuration file, overlaid by environment variables, then checked as a
 * whole. No other code reads settings from the environment.
 *
 * @param file the file named on the command line, which must exist; null searches the usual places
 * @throws config_invalid naming the path of every wrong value; usage if root would use a file of another user that nobody named
 */
export function loadConfig(file: string | null, env: Environment = process.env): LoadedConfig {
  const found = readConfigFile(namedConfigFile(file, env));
  const source = found?.file ?? "the configuration";
  const content = found?.content ?? {};
  const set = applyEnvironment({ database: { path: null, url: null } }, env).value;
  const databaseNames = nameTheDatabase({ name: source, content }, set);
  const merged = overlay(defaultConfig, content);
  // A file that a variable names overrides an address in the configuration file.
  const takesFile = databaseNames.path === "FORMSVC_DATABASE_PATH";
  const chosen = takesFile ? overlay(merged, { database: { url: null } }) : merged;
  const overridden = applyEnvironment(chosen, env);
  const result = checkConfig(overridden.value);
  if (!result.success)
    throw invalid({ source, error: result.error, config: overridden.value }, overridden.names);
  const variables = [...overridden.names.values()];
  const unknownVariables = Object.keys(env).filter(
    (name) =>
      name.startsWith("FORMSVC_") &&
      env[name] !== "" &&
      !variables.includes(name) &&
      !OTHER_VARIABLES.has(name),
  );
  const secretsInFile = secretPaths.filter((path) => typeof valueAt(content, path) === "string");
  const read = { config: result.data, file: found?.file ?? null, secretsInFile };
  return { ...read, databaseNames, variables, unknownVariables };
}

/** The file that `--config`, or else the environment, names; null if neither does. */
export function namedConfigFile(file: string | null, env: Environment = process.env): string | null {
  return file ?? (env["FORMSVC_CONFIG"] || null);
}

/** The environment variable for a path: `rateLimit.publishable.max` is `FORMSVC_RATE_LIMIT_PUBLISHABLE_MAX`. */
export function environmentName(path: readonly string[]): string {
  const words = path.map((part) =>
    part
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replaceAll("-", "_")
      .toUpperCase(),
  );
  return `FORMSVC_${words.join("_")}`;
}

function readConfigFile(named: string | null): { file: string; content: JsonObject } | null {
  for (const file of named === null ? DEFAULT_FILES : [named]) {
    const text = readIfPresent(file);
    if (named === null && text !== null) refuseForeignOwner(file, "configuration");
    if (text !== null) return { file, content: parseFile(file, text) };
  }
  if (named === null) return null;
  throw new FormsvcError("config_invalid", `${named}: there is no such file`, {
    hint: { kind: "make_configuration" },
  });
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new FormsvcError("config_invalid", `${file}: cannot be read${whyUnread(error)}`, { cause: error });
  }
}

/** Explains why a file cannot be read. Often only its owner may, because a token is in it. */
function whyUnread(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "EACCES" ? " by this user; change its owner or mode (chown, chmod)" : ` (${message})`;
}

function parseFile(file: string, content: string): JsonObject {
  const text = content.replace(/^\uFEFF/, "");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new FormsvcError("config_invalid", `${file}: not JSON (${sayJsonFault(text, error)})`);
  }
  checkText(file, text, []);
  if (!isObject(parsed)) throw new FormsvcError("config_invalid", `${file}: expected a JSON object`);
  return parsed;
}

/** The largest depth of a configuration: more than any setting has, and little enough to be read. */
const MAX_DEPTH = 32;

/**
 * Checks what is not seen any more when JSON is parsed.
 *
 * @param source the file or the variable
 * @param path the setting that the text is
 * @throws config_invalid naming each member that stands several times, or the depth
 */
function checkText(source: string, text: string, path: readonly string[]): void {
  if (depthOf(text) > MAX_DEPTH)
    throw new FormsvcError(
      "config_invalid",
      `${source}: nested deeper than ${MAX_DEPTH} levels, and no setting is; look for brackets that are not closed`,
    );
  const problems = [...repeatedMembers(text)].map((repeated) => ({
    path: [...path, ...repeated.path].join("."),
    message: `this stands twice in the ${path.length === 0 ? "file" : "value"}, in ${inLines(repeated.lines)}: keep one of them`,
  }));
  if (problems.length === 0) return;
  const said = problems.map((problem) => `${source}: ${problem.path}: ${problem.message}`);
  throw new FormsvcError("config_invalid", said.join("\n"), { details: { problems } });
}

function inLines([first, second]: readonly [number, number]): string {
  return first === second ? `line ${first}` : `lines ${first} and ${second}`;
}

function valueAt(content: Json, path: string): Json {
  return path
    .split(".")
    .reduce<Json>((value, name) => (isObject(value) ? (value[name] ?? null) : null), content);
}

/** Merges objects member by member. Any other value of `over` replaces the value in `base`. */
function overlay(base: Json, over: Json): Json {
  if (!isObject(base) || !isObject(over)) return over;
  const merged: JsonObject = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = Object.hasOwn(base, name) ? base[name] : undefined;
    Object.defineProperty(merged, name, {
      value: below === undefined ? value : overlay(below, value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return merged;
}

function applyEnvironment(config: Json, env: Environment): { value: Json; names: Map<string, string> } {
  const names = new Map<string, string>();
  const visit = (value: Json, schema: z.ZodType, path: string[]): Json => {
    const name = environmentName(path);
    const text = isWhole(path, schema) || isEmptyPath(name, env) ? undefined : env[name];
    let current = value;
    if (text !== undefined) {
      names.set(path.join("."), name);
      current = overlay(value, parseVariable(text, schema, { name, path }));
    }
    if (!isObject(current)) return current;
    return Object.fromEntries(
      Object.entries(current).map(([member, below]) => [
        member,
        visit(below, memberSchema(schema, member), [...path, member]),
      ]),
    );
  };
  return { value: visit(config, configSchema, []), names };
}

/** Whether a path is the whole configuration or one section. The settings in a section have variables, the section has none. */
function isWhole(path: readonly string[], schema: z.ZodType): boolean {
  return path.length === 0 || (path.length === 1 && schema instanceof z.ZodObject);
}

/**
 * Whether the variable of the database's file is empty. A systemd unit sets this variable, and a file of variables can undo that only with
 * an empty value.
 */
function isEmptyPath(name: string, env: Environment): boolean {
  return name === "FORMSVC_DATABASE_PATH" && env[name] === "";
}

/** Otherwise the library compiles a function for each object of the schema, which is worth it only for many values. */
const READ_ONCE = { jitless: true };

type Checked =
  | { readonly success: true; readonly data: Config }
  | { readonly success: false; readonly error: z.ZodError };

/** Checks by the schema, and for a plan named `__proto__`, which `z.record` drops without a word. */
function checkConfig(value: Json): Checked {
  const result = configSchema.safeParse(value, READ_ONCE);
  const plans = isObject(value) ? value["plans"] : undefined;
  if (plans === undefined || !isObject(plans) || !Object.hasOwn(plans, "__proto__")) return result;
  const dropped: z.core.$ZodIssue = {
    code: "invalid_key",
    origin: "record",
    path: ["plans", "__proto__"],
    issues: planName.safeParse("__proto__").error?.issues ?? [],
    message: "",
    input: undefined,
  };
  return { success: false, error: new z.ZodError([...(result.error?.issues ?? []), dropped]) };
}

/** The JSON value if the setting accepts it, else the text itself, so that a token of digits stays a text. */
function parseVariable(
  text: string,
  schema: z.ZodType,
  { name, path }: { readonly name: string; readonly path: readonly string[] },
): Json {
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    return text;
  }
  if (typeof parsed === "object" && parsed !== null) checkText(name, text, path);
  if (isObject(parsed)) return parsed;
  const accepts = (value: Json): boolean => schema.safeParse(value, READ_ONCE).success;
  return accepts(parsed) || !accepts(text) ? parsed : text;
}

function memberSchema(schema: z.ZodType, member: string): z.ZodType {
  if (schema instanceof z.ZodObject) return (schema.shape[member] as z.ZodType | undefined) ?? z.unknown();
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  return z.unknown();
}

function invalid({ source, error, config }: Refused, variables: ReadonlyMap<string, string>): FormsvcError {
  const problems = describeProblems(error, config).map(({ path, message }) => ({
    path,
    message,
    variable: variableOf(path, variables),
  }));
  const lines = problems.map(({ path, message, variable }) => `${variable ?? source}: ${path}: ${message}`);
  return new FormsvcError("config_invalid", lines.join("\n"), { details: { problems } });
}

/** The variable that set this path or a container of it, such as the list of a wrong entry. */
function variableOf(path: string, variables: ReadonlyMap<string, string>): string | undefined {
  const parts = path.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const variable = variables.get(parts.slice(0, length).join("."));
    if (variable !== undefined) return variable;
  }
  return undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
