import { z } from "zod";
import { configSchema, defaultConfig, secretPaths } from "../../src/config/config.ts";
import { environmentName } from "../../src/config/load-config.ts";
import { renderTable } from "./table.ts";

/** The part of a JSON Schema that zod writes for the configuration. */
interface Shape {
  /** A list if a value may have several types and has no other rule. */
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export function renderConfiguration(): string {
  const schema = z.toJSONSchema(configSchema, { io: "input" }) as Shape;
  return `# Configuration

Made from \`src/config/config.ts\` by \`npm run fix\`. The file is the one that \`--config\` names, else \`FORMSVC_CONFIG\`,
else \`./formsvc.config.json\`, else \`/etc/formsvc/formsvc.config.json\`. Without a file the defaults apply. A file needs to hold
only the settings that differ; [docs/install.md](install.md#the-configuration) shows a whole one. The server reads it when it
starts: restart the server after each change.

An environment variable overrides the value of its setting; write lists and objects there as JSON. A section has none. An unknown setting or a wrong
value stops the program with exit code 2 and says its path, what is there and what to write; of a secret it shows nothing. So does a member
that stands twice in one object of the file. A variable that names no setting, or a plan that is not
configured, is not read; \`formsvc config check\` and the server's log name it. \`formsvc config show\` prints the settings in
force, and \`formsvc config check\` checks them.

${renderTable(["path", "type", "default", "environment", "meaning"], rowsOf(schema, []))}
`;
}

function rowsOf(shape: Shape, path: readonly string[]): string[][] {
  const own = path.length > 0 && (shape.description !== undefined || !isObject(shape));
  const rows = own ? [rowOf(shape, path)] : [];
  for (const [name, below] of Object.entries(shape.properties ?? {}))
    rows.push(...rowsOf(below, [...path, name]));
  const { additionalProperties } = shape;
  if (typeof additionalProperties === "object")
    rows.push(...rowsOf(additionalProperties, [...path, "<name>"]));
  return rows;
}

function rowOf(shape: Shape, path: readonly string[]): string[] {
  const place = path.join(".");
  const meaning = `${shape.description ?? ""}${secretPaths.includes(place) ? " Secret: never printed." : ""}`;
  return [`\`${place}\``, typeOf(shape), defaultOf(path), `\`${environmentName(path)}\``, meaning];
}

function isObject(shape: Shape): boolean {
  return shape.type === "object";
}

function typeOf(shape: Shape): string {
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeOf).join(" or ");
  if (shape.enum !== undefined) return shape.enum.map((choice) => `\`${choice}\``).join(", ");
  if (shape.type === "array") {
    return `list of ${typeOf(shape.items ?? {})}${range(shape.minItems ?? 0, shape.maxItems, "entries")}`;
  }
  if (shape.type === "string") {
    return `${shape.format === "uri" ? "URL" : "string"}${range(shape.minLength, shape.maxLength, "characters")}`;
  }
  if (shape.type === "integer" || shape.type === "number")
    return `${shape.type}${range(shape.minimum, shape.maximum, "")}`;
  return [shape.type ?? "any"].flat().join(" or ");
}

function range(low: number | undefined, high: number | undefined, unit: string): string {
  if (low === undefined && high === undefined) return "";
  const bounds =
    low === undefined ? `up to ${high}` : high === undefined ? `from ${low}` : `${low} to ${high}`;
  return `, ${bounds}${unit === "" ? "" : ` ${unit}`}`;
}

/** Returns the default of a setting. It is empty inside a map, because each entry of the map has its own. */
function defaultOf(path: readonly string[]): string {
  let value: unknown = defaultConfig;
  for (const part of path) {
    if (part === "<name>") return "";
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return isPlainObject(value) ? "" : `\`${JSON.stringify(value)}\``;
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
