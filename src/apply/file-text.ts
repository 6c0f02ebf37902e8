import { FormsvcError } from "../foundation/errors.ts";
import { jsonFault } from "../foundation/json-fault.ts";
import { plainText } from "../foundation/plain-text.ts";
import { repeatedMembers } from "../foundation/repeated-members.ts";
import { lineOfPath } from "../spam/json-line.ts";

/** The content of a file, before it is checked. */
export interface ParsedFile {
  readonly value: unknown;
  /** The line, from 1, of the value at a path, or of the nearest value around it. */
  readonly lineOf: (path: readonly string[]) => number;
}

/**
 * Reads a text as JSON if it begins like an object of JSON, else as YAML.
 *
 * @param source the file's name for messages
 * @throws usage with the line
 */
export async function parseFile(text: string, source: string): Promise<ParsedFile> {
  return text.trimStart().startsWith("{") ? parseJsonFile(text, source) : parseYaml(text, source);
}

function parseJsonFile(text: string, source: string): ParsedFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { line, column, reason } = jsonFault(text, error);
    throw refusal(`${source}:${line}: not valid JSON (column ${column}: ${reason})`);
  }
  for (const { path, lines } of repeatedMembers(text))
    throw refusal(`${source}:${lines[1]}: the member ${plainText(path.at(-1) ?? "")} is there twice`);
  return { value, lineOf: (path) => lineOfPath(text, path) };
}

/** Writes a value as YAML. @param comments lines above it */
export async function yamlText(value: unknown, comments: readonly string[]): Promise<string> {
  const { stringify } = await import("yaml");
  const lines = comments.map((comment) => `# ${plainText(comment)}\n`);
  return lines.join("") + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Warnings are refused like errors, because another program would read the text differently, for example with an unknown tag. */
async function parseYaml(text: string, source: string): Promise<ParsedFile> {
  const { LineCounter, isNode, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined && problem.code === "RESOURCE_EXHAUSTION") throw refusal(`${source}: ${tooDeep}`);
  if (problem !== undefined)
    throw refusal(`${source}:${lines.linePos(problem.pos[0]).line}: not valid YAML: ${problem.message}`);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    if (error instanceof RangeError) throw refusal(`${source}: ${tooDeep}`);
    throw refusal(`${source}: not valid YAML: ${(error as Error).message}`, error);
  }
  return {
    value,
    lineOf(path) {
      for (let length = path.length; length >= 0; length -= 1) {
        const found: unknown = document.getIn(path.slice(0, length), true);
        if (isNode(found) && found.range) return lines.linePos(found.range[0]).line;
      }
      return 1;
    },
  };
}

const tooDeep =
  "nested too deep to be read: no setting of a form has more than 50 levels; look for brackets or dashes that are not closed";

function refusal(message: string, cause?: unknown): FormsvcError {
  return new FormsvcError("usage", message, { cause });
}
