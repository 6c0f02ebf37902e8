import { ts } from "@ts-morph/common";

/**
 * Finds places that call a function of steps and drop its result. Steps do nothing until a database runs them, so such a call has no
 * effect.
 *
 * @param program type-checked sources @param isMeant whether a file is checked
 */
export function findFloatingSteps(program: ts.Program, isMeant: (file: string) => boolean): string[] {
  const checker = program.getTypeChecker();
  const found: string[] = [];
  for (const file of program.getSourceFiles()) {
    if (!isMeant(file.fileName)) continue;
    const ofVitest = namesFrom(file, "vitest");
    const look = (node: ts.Node): void => {
      if (
        ts.isExpressionStatement(node) &&
        !ofVitest.has(firstName(node.expression)) &&
        isSteps(checker.getTypeAtLocation(node.expression), checker)
      ) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${file.fileName}:${line + 1}: ${node.getText()} runs nothing; put yield* before it`);
      }
      ts.forEachChild(node, look);
    };
    look(file);
  }
  return found;
}

/** The names that a file imports from a package, as the file calls them. */
function namesFrom(file: ts.SourceFile, from: string): ReadonlySet<string> {
  const names = file.statements.flatMap((each) => {
    if (!ts.isImportDeclaration(each) || !ts.isStringLiteral(each.moduleSpecifier)) return [];
    const bindings = each.importClause?.namedBindings;
    if (each.moduleSpecifier.text !== from || bindings === undefined || !ts.isNamedImports(bindings))
      return [];
    return bindings.elements.map(({ name }) => name.text);
  });
  return new Set(names);
}

/**
 * The first name in a chain of calls: `expect` in `await expect(x).resolves.toBe(1)`. Calls of Vitest return no steps, and to find their
 * types takes long.
 */
function firstName(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) || ts.isAwaitExpression(node))
    return firstName(node.expression);
  return "";
}

function isSteps(type: ts.Type, checker: ts.TypeChecker): boolean {
  return /^(?:Steps|Generator)</.test(checker.typeToString(type));
}
