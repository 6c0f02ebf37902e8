import { registerHooks } from "node:module";

/**
 * Writes the types of an OpenAPI document, with openapi-typescript. That program uses the compiler interface of TypeScript 5, which
 * TypeScript 7 no longer has, so it gets the copy inside ts-morph. Run this as its own process: it reads the document from standard input
 * and writes the types to standard output.
 */
const compiler = `import { createRequire } from "node:module";
  export default createRequire(${JSON.stringify(import.meta.url)})("@ts-morph/common").ts;`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "typescript"
      ? { url: `data:text/javascript,${encodeURIComponent(compiler)}`, shortCircuit: true }
      : next(specifier, context),
});

const { astToString, default: generate } = await import("openapi-typescript");
const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
process.stdout.write(astToString(await generate(Buffer.concat(parts).toString("utf8"))));
