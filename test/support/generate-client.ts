import { registerHooks } from "node:module";

/**
 * The types of an OpenAPI document, as openapi-typescript writes them. That program builds them with the compiler
 * interface of TypeScript 5, which TypeScript 7 no longer has: the copy inside ts-morph stands in for it. Run as a
 * process of its own: document in, types out.
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
