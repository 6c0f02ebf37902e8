import { readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Loader, type Plugin, transform } from "esbuild";
import { type Beside, bundleBeside } from "./bundle-beside.ts";
import { brotli } from "./release/compress.ts";

/**
 * The program's own script is in memory twice while a process runs: as the bytes of the file and as the engine's text. Therefore, what a
 * server does not need while it is idle is packed beside the script.
 */

interface LateScript {
  /** The modules in the script, by the names that the program imports. */
  readonly modules: readonly string[];
  /** Whether these are CommonJS modules, which are required. */
  readonly isRequired: boolean;
  /** The modules that it takes from the program, because both must use the same classes. */
  readonly shared?: readonly string[];
}

/** The packages that a server needs late or never. */
export const LATE_SCRIPTS: Readonly<Record<string, LateScript>> = {
  "script-agents": {
    modules: ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio"],
    isRequired: false,
    shared: ["zod/v4"],
  },
  "script-passkeys": {
    modules: ["@simplewebauthn/server", "@simplewebauthn/server/helpers"],
    isRequired: false,
  },
  "script-openid": { modules: ["openid-client"], isRequired: false },
  "script-yaml": { modules: ["yaml"], isRequired: true },
  "script-file-types": { modules: ["file-type"], isRequired: false },
  "script-metrics": { modules: ["prom-client"], isRequired: true },
  "script-patterns": { modules: ["re2js"], isRequired: false },
  "script-s3": { modules: ["aws4fetch"], isRequired: false },
  "script-serializers": { modules: ["@fastify/fast-json-stringify-compiler"], isRequired: true },
  "script-validators": { modules: ["@fastify/ajv-compiler"], isRequired: true },
  "script-injections": { modules: ["light-my-request"], isRequired: true },
  "script-mail": { modules: ["nodemailer/lib/smtp-connection", "nodemailer/lib/dkim"], isRequired: true },
  "script-postgresql": { modules: ["pg"], isRequired: true },
  "script-pretty-log": { modules: ["pino-pretty"], isRequired: true },
  "script-codes": { modules: ["uqr"], isRequired: false },
  "script-requests": {
    modules: [
      "undici/lib/api/api-request.js",
      "undici/lib/core/connect.js",
      "undici/lib/dispatcher/agent.js",
      "undici/lib/dispatcher/client.js",
      "undici/lib/dispatcher/pool.js",
    ],
    isRequired: true,
  },
  // Code for the processor. The first request that the server sends loads one of them.
  "script-parser": { modules: ["undici/lib/llhttp/llhttp-wasm.js"], isRequired: true },
  "script-parser-simd": { modules: ["undici/lib/llhttp/llhttp_simd-wasm.js"], isRequired: true },
  "script-other-parser": { modules: ["undici/lib/milo/no-simd.js"], isRequired: true },
  "script-other-parser-simd": { modules: ["undici/lib/milo/simd.js"], isRequired: true },
};

/** Compresses content that the program unpacks while it runs. */
export function pack(content: string | Uint8Array): Buffer {
  return brotli(content);
}

/** Bundles each late package by itself, and replaces it in the program by a call that runs it. */
export function packLateScripts(beside: Beside): Plugin {
  return packOthers(beside, new Map());
}

/**
 * Packs the late scripts. @param made the scripts so far, by name @param own the script that is being made, which contains its own modules
 */
function packOthers(beside: Beside, made: Map<string, Promise<void>>, own?: string): Plugin {
  return {
    name: "pack-late-scripts",
    setup(builder) {
      builder.onResolve({ filter: /^(?:[@a-z]|\.\.\/(?:llhttp|milo)\/)/ }, ({ path: given }) => {
        const path = given.replace(/^\.\.\/(?=llhttp|milo)/, "undici/lib/");
        const [name = own] = scriptOf(path) ?? [];
        return name === own ? null : { path, namespace: "late" };
      });
      // The module is imported, as in the program: if it were required, a package might load a second copy.
      builder.onResolve({ filter: /^shared:/ }, ({ path }) => ({ path, namespace: "shared" }));
      builder.onLoad({ filter: /.*/, namespace: "shared" }, ({ path }) => ({
        loader: "js",
        resolveDir: beside.folder,
        contents: `export * from ${JSON.stringify(path.replace("shared:", ""))};`,
      }));
      builder.onLoad({ filter: /.*/, namespace: "late" }, async ({ path }) => {
        const [name, script] = await packOnce(path, beside, made);
        const runner = JSON.stringify(join(beside.folder, "src/foundation/packed-script.ts"));
        const shared = (script.shared ?? []).map((each) => `"${each}": () => require("shared:${each}")`);
        return {
          loader: "js",
          resolveDir: beside.folder,
          contents: `const script = require(${runner}).runPackedScript("${name}", {${shared.join(", ")}});
module.exports = script[${script.modules.indexOf(path)}];`,
        };
      });
    },
  };
}

function scriptOf(module: string): [name: string, script: LateScript] | undefined {
  return Object.entries(LATE_SCRIPTS).find(([, { modules }]) => modules.includes(module));
}

/** Packs the late script that has a module, unless it is packed already. */
async function packOnce(
  module: string,
  beside: Beside,
  made: Map<string, Promise<void>>,
): Promise<[name: string, script: LateScript]> {
  const found = scriptOf(module);
  if (found === undefined) throw new Error(`no late script has ${module}`);
  const [name, script] = found;
  if (!made.has(name)) made.set(name, packScript(name, script, beside, made));
  await made.get(name);
  return found;
}

async function packScript(
  name: string,
  { modules, isRequired, shared = [] }: LateScript,
  beside: Beside,
  made: Map<string, Promise<void>>,
): Promise<void> {
  const { folder, buildFolder, options, assets } = beside;
  const imports = modules.map((module, index) => `import * as m${index} from "${module}";`).join("\n");
  const required = modules.map((module) => `require("${module}")`);
  const contents = isRequired
    ? `module.exports = [${required.join(", ")}];`
    : `${imports}\nmodule.exports = [${modules.map((_, index) => `m${index}`).join(", ")}];`;
  const script = await bundleBeside(beside, {
    stdin: { contents, resolveDir: folder },
    external: [...(options.external ?? []), ...shared],
    plugins: [packOthers(beside, made, name)],
    logLevel: "error",
  });
  assets[name] = join(buildFolder, name);
  writeFileSync(assets[name], pack(asAscii(script)));
}

/**
 * Escapes every character that is not ASCII. One character beyond Latin-1 makes the engine use two bytes for each character of the script,
 * 4 MB more while the process runs. The bundler escapes those in strings; the others are in patterns, where the same escape works.
 */
export function asAscii(script: string): string {
  return script.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const LOADERS: Readonly<Record<string, Loader>> = {
  ".ts": "ts",
  ".js": "js",
  ".mjs": "js",
  ".cjs": "js",
};

/**
 * Gives short names to the variables inside functions, which saves a third of the script. The names of a module's own functions stay,
 * because traces of errors show them.
 */
export function shortenLocals(): Plugin {
  return {
    name: "shorten-locals",
    setup(builder) {
      builder.onLoad({ filter: /\.(?:ts|[cm]?js)$/ }, async ({ path }) => {
        const loader = LOADERS[extname(path)] ?? "js";
        return { loader: "js", contents: await shorten(readFileSync(path, "utf8"), loader) };
      });
    },
  };
}

async function shorten(text: string, loader: Loader): Promise<string> {
  const { code } = await transform(text, { loader, minifyIdentifiers: true, legalComments: "none" });
  return code;
}

/** Embeds the pages of docs/ as packed bytes, which take three quarters of the space of their text in the script. */
export function embedManual(buildFolder: string, assets: Record<string, string>): Plugin {
  return {
    name: "embed-manual",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]manual[\\/]pages\.generated\.ts$/ }, async ({ path }) => {
        const { packedPages } = (await import(pathToFileURL(path).href)) as PackedPages;
        assets[MANUAL_ASSET] = join(buildFolder, MANUAL_ASSET);
        writeFileSync(assets[MANUAL_ASSET], pack(JSON.stringify(packedPages)));
        return {
          loader: "js",
          contents: `import { getRawAsset } from "node:sea";
import { brotliDecompressSync } from "node:zlib";
export const packedPages = JSON.parse(brotliDecompressSync(getRawAsset("${MANUAL_ASSET}")).toString("utf8"));`,
        };
      });
    },
  };
}

const MANUAL_ASSET = "manual";

/** Puts the engine of patterns into the script, or beside it, instead of a call that finds it among the installed packages. */
export function bundlePatternEngine(): Plugin {
  return {
    name: "bundle-pattern-engine",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]foundation[\\/]pattern-engine\.ts$/ }, ({ path }) => ({
        loader: "js",
        resolveDir: dirname(path),
        contents: 'export const patternEngine = () => require("re2js");',
      }));
    },
  };
}

/** Embeds the texts of migrations as packed bytes, because only a database of an older version needs them. */
export function embedMigrations(buildFolder: string, assets: Record<string, string>): Plugin {
  return {
    name: "embed-migrations",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]migrations\.generated\.ts$/ }, async ({ path }) => {
        const { migrations, ...rest } = (await import(pathToFileURL(path).href)) as MigrationTexts;
        const asset = path.includes("postgresql") ? "migrations-postgresql" : "migrations";
        assets[asset] = join(buildFolder, asset);
        writeFileSync(assets[asset], pack(JSON.stringify(migrations.map(({ sql }) => sql))));
        const others = Object.entries(rest).map(
          ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
        );
        return {
          loader: "js",
          contents: `import { getRawAsset } from "node:sea";
import { brotliDecompressSync } from "node:zlib";
let texts;
const unpack = () => JSON.parse(brotliDecompressSync(getRawAsset("${asset}")).toString("utf8"));
export const migrations = ${JSON.stringify(migrations.map(({ version, name }) => ({ version, name })))}.map(
  (migration, index) => ({ ...migration, get sql() { return (texts ??= unpack())[index]; } }),
);
${others.join("\n")}`,
        };
      });
    },
  };
}

/** The exports of `migrations.generated.ts`. */
interface MigrationTexts {
  readonly migrations: readonly { readonly version: number; readonly name: string; readonly sql: string }[];
}

/** The exports of `pages.generated.ts`. */
interface PackedPages {
  readonly packedPages: readonly (readonly [name: string, summary: string, packed: string])[];
}
