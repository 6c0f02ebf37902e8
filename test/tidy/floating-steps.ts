import { ts } from "@ts-morph/common";

/**
 * Places that call a function of steps and drop what it returns. Steps do nothing until a database runs them, so such a
 * call is silently left out.
 *
 * @param program type-checked sources. @param isMeant whether a file is looked at.
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

/** What a file imports from a package, by the names that it has here. */
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

/** The name that a chain of calls begins with: `expect` of `await expect(x).resolves.toBe(1)`. Vitest's calls return no steps, and their types take long. */
function firstName(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) || ts.isAwaitExpression(node))
    return firstName(node.expression);
  return "";
}

function isSteps(type: ts.Type, checker: ts.TypeChecker): boolean {
  return /^(?:Steps|Generator)</.test(checker.typeToString(type));
}
