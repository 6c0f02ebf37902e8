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
    const look = (node: ts.Node): void => {
      if (ts.isExpressionStatement(node) && isSteps(checker.getTypeAtLocation(node.expression), checker)) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${file.fileName}:${line + 1}: ${node.getText()} runs nothing; put yield* before it`);
      }
      ts.forEachChild(node, look);
    };
    look(file);
  }
  return found;
}

function isSteps(type: ts.Type, checker: ts.TypeChecker): boolean {
  return /^(?:Steps|Generator)</.test(checker.typeToString(type));
}
