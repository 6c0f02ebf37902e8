import {
  type Expression,
  isAwaitExpression,
  isCallExpression,
  isExpressionStatement,
  isIdentifier,
  isImportDeclaration,
  isNamedImports,
  isPropertyAccessExpression,
  isStringLiteral,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { API, type Project } from "typescript/unstable/sync";

/**
 * Finds places that call a function of steps and drop its result. Steps do nothing until a database runs them, so such a call has no
 * effect.
 *
 * @param configuration the path of a `tsconfig.json` @param isMeant whether a file is checked
 */
export function findFloatingSteps(configuration: string, isMeant: (file: string) => boolean): string[] {
  const api = new API();
  try {
    const project = api.updateSnapshot({ openProjects: [configuration] }).getProject(configuration);
    if (project === undefined) throw new Error(`there is no project ${configuration}`);
    const files = project.program.getSourceFileNames().filter(isMeant);
    return files.flatMap((file) => floatingSteps(project, file));
  } finally {
    api.close();
  }
}

function floatingSteps({ program, checker }: Project, name: string): readonly string[] {
  const file = program.getSourceFile(name);
  if (file === undefined) return [];
  const expressions = droppedExpressions(file);
  return checker.getTypeAtLocation(expressions).flatMap((type, index) => {
    const expression = expressions[index];
    if (type === undefined || expression === undefined) throw new Error(`${name} has no types`);
    if (!/^(?:Steps|Generator)</.test(checker.typeToString(type))) return [];
    const line = file.text.slice(0, expression.getStart(file)).split("\n").length;
    return `${name}:${line}: ${expression.getText(file)} runs nothing; put yield* before it`;
  });
}

/** The expressions that are statements, except calls of Vitest, which return no steps: to find their types takes long. */
function droppedExpressions(file: SourceFile): readonly Expression[] {
  const ofVitest = namesFrom(file, "vitest");
  const found: Expression[] = [];
  const look = (node: Node): void => {
    if (isExpressionStatement(node) && !ofVitest.has(firstName(node.expression))) found.push(node.expression);
    node.forEachChild(look);
  };
  look(file);
  return found;
}

/** The names that a file imports from a package, as the file calls them. */
function namesFrom(file: SourceFile, from: string): ReadonlySet<string> {
  const names = file.statements.flatMap((each) => {
    if (!isImportDeclaration(each) || !isStringLiteral(each.moduleSpecifier)) return [];
    const bindings = each.importClause?.namedBindings;
    if (each.moduleSpecifier.text !== from || bindings === undefined || !isNamedImports(bindings)) return [];
    return bindings.elements.map(({ name }) => name.text);
  });
  return new Set(names);
}

/** The first name in a chain of calls: `expect` in `await expect(x).resolves.toBe(1)`. */
function firstName(node: Expression): string {
  if (isIdentifier(node)) return node.text;
  if (isCallExpression(node) || isPropertyAccessExpression(node) || isAwaitExpression(node))
    return firstName(node.expression);
  return "";
}
