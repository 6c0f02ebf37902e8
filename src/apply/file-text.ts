import type * as Yaml from "yaml";
import type { Document, YAMLError } from "yaml";
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
    throw refusal(`${source}:${lines[1]}: ${twice(path.at(-1) ?? "")}`);
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
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  // The library compares each name with all names before it, which takes minutes for a long list.
  const options = { prettyErrors: false, stringKeys: true, uniqueKeys: false } as const;
  const document = yaml.parseDocument(text, { ...options, lineCounter: lines });
  const faultAt = (offset: number, reason: string): FormsvcError => {
    const { line, col } = lines.linePos(offset);
    return refusal(`${source}:${line}: not valid YAML (column ${col}: ${reason})`);
  };
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined && problem.code === "RESOURCE_EXHAUSTION") throw refusal(`${source}: ${tooDeep}`);
  if (problem !== undefined) throw faultAt(problem.pos[0], reasonOf(problem));
  let value: unknown;
  try {
    const fault = findFault(document, yaml);
    // A member that is there twice has the same words in JSON.
    if (fault?.repeated !== undefined)
      throw refusal(`${source}:${lines.linePos(fault.offset).line}: ${twice(fault.repeated)}`);
    if (fault !== null) throw faultAt(fault.offset, fault.reason);
    value = document.toJS();
  } catch (error) {
    if (error instanceof FormsvcError) throw error;
    if (error instanceof RangeError) throw refusal(`${source}: ${tooDeep}`);
    throw refusal(
      `${source}: not valid YAML: its aliases stand for too much; write out what they stand for`,
      error,
    );
  }
  return {
    value,
    lineOf(path) {
      for (let length = path.length; length >= 0; length -= 1) {
        const found: unknown = document.getIn(path.slice(0, length), true);
        if (yaml.isNode(found) && found.range) return lines.linePos(found.range[0]).line;
      }
      return 1;
    },
  };
}

/** The largest number of aliases. Each is looked for among all anchors. */
const MAX_ALIASES = 1000;
/** The largest number of characters of the library's words that are shown. */
const MAX_REASON = 200;

/** The words of the library, or ours if they are about its own functions. */
function reasonOf({ code, message }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "a second document begins here, and a file has one";
  if (code === "TAG_RESOLVE_FAILED") return "tags like !name are not understood; leave it out";
  if (code === "NON_STRING_KEY") return "a name must be a text";
  return plainText(message).slice(0, MAX_REASON);
}

/** A fault with what is wrong there, or with the name of a member that is there twice. */
type YamlFault = { readonly offset: number } & (
  | { readonly reason: string; readonly repeated?: undefined }
  | { readonly repeated: string }
);

const twice = (name: string): string => `the member ${plainText(name)} is there twice`;

/** Finds the first member that is there twice, or alias without an anchor before it, in a time that grows with the document. */
function findFault(document: Document, { visit, isScalar }: typeof Yaml): YamlFault | null {
  const anchors = new Set<string>();
  let aliases = 0;
  let fault: YamlFault | null = null;
  visit(document, {
    Value(_key, node) {
      if (node.anchor !== undefined) anchors.add(node.anchor);
    },
    Map(_key, { anchor, items }) {
      if (anchor !== undefined) anchors.add(anchor);
      const names = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : "";
        const offset = (isScalar(key) ? key.range?.[0] : undefined) ?? 0;
        if (names.has(name)) fault ??= { offset, repeated: name };
        names.add(name);
      }
      return fault === null ? undefined : visit.BREAK;
    },
    Alias(_key, { source: name, range }) {
      aliases += 1;
      const offset = range?.[0] ?? 0;
      if (aliases > MAX_ALIASES) fault = { offset, reason: `there are more than ${MAX_ALIASES} aliases` };
      else if (!anchors.has(name)) fault = { offset, reason: `no anchor is named ${plainText(name)} above` };
      return fault === null ? undefined : visit.BREAK;
    },
  });
  return fault;
}

const tooDeep =
  "nested too deep to be read: no setting of a form has more than 50 levels; look for brackets or dashes that are not closed";

function refusal(message: string, cause?: unknown): FormsvcError {
  return new FormsvcError("usage", message, { cause });
}
