import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { ONE_SCRIPT } from "../../scripts/executable.ts";
import { asAscii, bundlePatternEngine } from "../../scripts/smaller-script.ts";
import { STREAMS_VARIABLE } from "./hosted-command.ts";

/**
 * Writes a snapshot of the engine's memory after it has loaded the modules of every command except `serve`. A process that starts from it
 * takes half of the processor time of one that loads them. It is still the whole program: it begins in `main.ts`, in a new process.
 * @param file the path of the snapshot, which another run of the tests may be reading
 */
export async function makeSnapshot(root: string, file: string): Promise<void> {
  const script = `${file}.${process.pid}.cjs`;
  const fresh = `${file}.${process.pid}`;
  try {
    await build({
      ...ONE_SCRIPT,
      absWorkingDir: root,
      stdin: { contents: loadCommands(`${root}/src/cli`), resolveDir: root, loader: "ts" },
      outfile: script,
      plugins: [loadLate(root), bundlePatternEngine()],
      logLevel: "warning",
    });
    writeFileSync(script, asAscii(readFileSync(script, "utf8")));
    // Node warns of each of its own modules that has not been tested in a snapshot.
    const args = ["--no-warnings", "--snapshot-blob", fresh, "--build-snapshot", script];
    execFileSync(process.execPath, args, { stdio: ["ignore", "inherit", "pipe"] });
    renameSync(fresh, file);
  } finally {
    for (const made of [script, fresh]) rmSync(made, { force: true });
  }
}

/**
 * Makes a script that loads the commands. When it starts from the snapshot, it becomes the program, or it runs the commands of another
 * process.
 */
function loadCommands(folder: string): string {
  const commands = readdirSync(folder).filter((name) => /-commands?\.ts$/.test(name));
  return [
    'import { startupSnapshot } from "node:v8";',
    'import "./src/cli/program.ts";',
    'import { patternEngine } from "./src/foundation/pattern-engine.ts";',
    "patternEngine();",
    ...commands
      .filter((name) => name !== "serve-command.ts")
      .map((name) => `import ${JSON.stringify(`./src/cli/${name}`)};`),
    'import { hostCommands } from "./test/support/command-host.ts";',
    "startupSnapshot.setDeserializeMainFunction(() => {",
    `  const streams = process.env[${JSON.stringify(STREAMS_VARIABLE)}];`,
    '  void (streams === undefined ? import("./src/main.ts") : hostCommands(streams));',
    "});",
  ].join("\n");
}

/** Packages with native code, and modules of Node that hold something outside the engine's memory. */
const LATE_PACKAGES = /^(?:better-sqlite3|@node-rs\/argon2)$/;
const LATE_BUILTINS = /^(?:node:)?(?:child_process|dgram|dns|dns\/promises|http|https|http2|tls)$/;
/** Files that derive classes from such a module as soon as they are loaded. */
const LATE_FILES = /^undici\/|\/send\.ts$/;

/** Loads what a snapshot cannot hold when the program first uses it, and leaves out the server. */
function loadLate(root: string): Plugin {
  const place = `${root}/package.json`;
  const required = createRequire(place);
  const fromPackages = `process.getBuiltinModule("node:module").createRequire(${JSON.stringify(place)})`;
  return {
    name: "load-late",
    setup(builder) {
      const replace = (namespace: string, contentsOf: (path: string) => string | Promise<string>): void =>
        builder.onLoad({ filter: /.*/, namespace }, async ({ path }) => ({
          contents: await contentsOf(path),
          resolveDir: root,
        }));
      builder.onResolve({ filter: LATE_PACKAGES }, ({ path }) => ({ path, namespace: "late-package" }));
      replace("late-package", (path) =>
        standIn(`${fromPackages}(${JSON.stringify(path)})`, required(path) as object),
      );
      builder.onResolve({ filter: LATE_BUILTINS }, ({ path }) => ({ path, namespace: "late-builtin" }));
      replace("late-builtin", (path) =>
        standIn(`process.getBuiltinModule(${JSON.stringify(path)})`, required(path) as object),
      );
      builder.onResolve({ filter: LATE_FILES }, async ({ path, pluginData, ...from }) => {
        if (pluginData === "itself" || from.namespace === "late-file") return null;
        const found = await builder.resolve(path, { ...from, pluginData: "itself" });
        return { path: found.path, namespace: "late-file" };
      });
      replace("late-file", async (path) =>
        standIn(`require(${JSON.stringify(path)})`, (await import(pathToFileURL(path).href)) as object),
      );
      builder.onResolve({ filter: /\/start-server\.ts$/ }, ({ path }) => ({ path, namespace: "left-out" }));
      replace(
        "left-out",
        (path) => `export function startServer() { throw new Error("${path} is not in the snapshot"); }`,
      );
    },
  };
}

/** Writes a module that loads another one when it is first used. @param load code that loads it @param like the module as it is now */
function standIn(load: string, like: object): string {
  return `let loaded;
const load = () => (loaded ??= ${load});
const property = (name) => ({ configurable: true, enumerable: true, get: () => load()[name] });
module.exports = new Proxy(function () {}.bind(), {
  get: (_, name) => (name === "__esModule" ? undefined : load()[name]),
  has: (_, name) => name in load(),
  apply: (_, self, args) => Reflect.apply(load(), self, args),
  construct: (_, args) => Reflect.construct(load(), args),
  ownKeys: () => ${JSON.stringify(Object.keys(like))},
  getOwnPropertyDescriptor: (_, name) => property(name),
});`;
}
