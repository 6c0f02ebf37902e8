import { ts } from "@ts-morph/common";
import { parseSource } from "./parse-source.ts";
import { resolveImport } from "./source-imports.ts";
import type { SourceFile } from "./source-rules.ts";
import { findTableUses } from "./table-owners.ts";

/** A function, constant or class at the top level of a file. Its id is like `src/keys/key-store.ts#listKeys`. */
export interface TopSymbol {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  /** The function whose result is the symbol's value, like `operation`; null if the value is not a call. */
  readonly madeBy: string | null;
  /** The names of the functions that the symbol's text calls. */
  readonly calls: ReadonlySet<string>;
  /** The symbols that the symbol's text names. */
  readonly uses: readonly string[];
  /** Whether the symbol's own text changes rows. */
  readonly writes: boolean;
}

/** Reads the symbols at the top level of these files. */
export function readSymbols(files: readonly SourceFile[]): ReadonlyMap<string, TopSymbol> {
  return new Map(files.flatMap(symbolsOf).map((symbol) => [symbol.id, symbol]));
}

/** Functions that make operations: one operation, or those that each kind of recipient has. */
const MAKERS: ReadonlySet<string | null> = new Set([
  "operation",
  "recipientOperations",
  "deliveryOperations",
]);

export function isOperation({ madeBy }: TopSymbol): boolean {
  return MAKERS.has(madeBy);
}

/**
 * Finds the symbols that change rows, directly or through what they use. Operations, and symbols that only use an operation, are left out.
 */
export function findWriters(symbols: ReadonlyMap<string, TopSymbol>): ReadonlySet<string> {
  const writers = new Set<string>();
  const isOpen = (symbol: TopSymbol): boolean => !writers.has(symbol.id) && !isOperation(symbol);
  let before: number;
  do {
    before = writers.size;
    for (const symbol of symbols.values())
      if (isOpen(symbol) && (symbol.writes || symbol.uses.some((id) => writers.has(id))))
        writers.add(symbol.id);
  } while (writers.size > before);
  return writers;
}

/** Folders whose code has no effect by itself: the operations that it calls have. */
const CLIENTS = ["src/apply/"];

/** Whether a symbol uses a symbol of this kind, directly or through symbols in its own folder or in a client of operations. */
export function leadsTo(
  symbols: ReadonlyMap<string, TopSymbol>,
  from: TopSymbol,
  isMeant: (symbol: TopSymbol) => boolean,
): boolean {
  const folder = from.path.slice(0, from.path.lastIndexOf("/"));
  const seen = new Set([from.id]);
  for (const id of seen) {
    for (const used of symbols.get(id)?.uses ?? []) {
      const symbol = symbols.get(used);
      if (symbol === undefined) continue;
      if (isMeant(symbol)) return true;
      if ([`${folder}/`, ...CLIENTS].some((place) => symbol.path.startsWith(place))) seen.add(used);
    }
  }
  return false;
}

function symbolsOf(file: SourceFile): TopSymbol[] {
  const source = parseSource(file);
  const { path } = file;
  const known = importedNames(source, path);
  const parts = source.statements.flatMap(namedParts);
  for (const { name } of parts) known.set(name, `${path}#${name}`);
  const written = findTableUses(file)
    .filter(({ does }) => does === "writes")
    .map(({ place }) => Number(place.split(":")[1]));
  return parts.map(({ name, node, madeBy }) => {
    const id = `${path}#${name}`;
    const [first, last] = [lineOf(source, node.getStart()), lineOf(source, node.getEnd())];
    return {
      id,
      path,
      name,
      madeBy,
      calls: callsIn(node),
      uses: [...namesIn(node)].flatMap((used) => known.get(used) ?? []).filter((used) => used !== id),
      writes: written.some((line) => line >= first && line <= last),
    };
  });
}

/** The ids of the values that a file imports, by the name that the file uses for each. */
function importedNames(source: ts.SourceFile, path: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const { importClause, moduleSpecifier } = statement;
    const bindings = importClause?.namedBindings;
    if (!moduleSpecifier.text.startsWith(".") || bindings === undefined || !ts.isNamedImports(bindings))
      continue;
    if (importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) continue;
    const from = resolveImport(path, moduleSpecifier.text);
    for (const { name, propertyName, isTypeOnly } of bindings.elements)
      if (!isTypeOnly) names.set(name.text, `${from}#${(propertyName ?? name).text}`);
  }
  return names;
}

interface NamedPart {
  readonly name: string;
  readonly node: ts.Node;
  readonly madeBy: string | null;
}

function namedParts(statement: ts.Statement): NamedPart[] {
  if (
    (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) &&
    statement.name !== undefined
  )
    return [{ name: statement.name.text, node: statement, madeBy: null }];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap((node) =>
    namesOf(node.name).map((name) => ({ name, node, madeBy: makerOf(node.initializer) })),
  );
}

/** Returns the one name of a binding, or all names if it takes a value apart. */
function namesOf(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesOf(element.name) : []));
}

function makerOf(value: ts.Expression | undefined): string | null {
  if (value === undefined || !ts.isCallExpression(value) || !ts.isIdentifier(value.expression)) return null;
  return value.expression.text;
}

function namesIn(node: ts.Node, names = new Set<string>()): Set<string> {
  if (ts.isIdentifier(node)) names.add(node.text);
  ts.forEachChild(node, (child) => {
    if (!isMemberName(node, child)) namesIn(child, names);
  });
  return names;
}

function callsIn(node: ts.Node, names = new Set<string>()): Set<string> {
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) names.add(node.expression.text);
  ts.forEachChild(node, (child) => void callsIn(child, names));
  return names;
}

/** Whether the child is the name of a member: `b` in `a.b` and in `{ b: c }`. */
function isMemberName(parent: ts.Node, child: ts.Node): boolean {
  const hasName = ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent);
  return hasName && parent.name === child;
}

function lineOf(source: ts.SourceFile, position: number): number {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}
