import { isBuiltin } from "node:module";
import { join, relative, resolve, sep } from "node:path";
import { writeFileSync } from "node:fs";
import type { Plugin } from "esbuild";
import { type Beside, bundleBeside } from "./bundle-beside.ts";
import { asAscii, pack, shortenLocals } from "./smaller-script.ts";

const ASSET = "script-dashboard";
const FOLDER = "src/dashboard";
const ENTRY = `${FOLDER}/dashboard.ts`;

/**
 * Gives the dashboard its own script, which the first visit loads, because the dashboard is a seventh of the program and most processes
 * never show a page of it. The script takes each module of another folder from the program, because both must use the same classes.
 */
export function packDashboard(beside: Beside): Plugin {
  return {
    name: "pack-dashboard",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]dashboard[\\/]dashboard\.ts$/ }, async () => ({
        loader: "js",
        resolveDir: beside.folder,
        contents: startOf(namesFromProgram(await packScript(beside))),
      }));
    },
  };
}

/** The code that replaces the dashboard in the program: it runs the script with the names that the script takes. */
function startOf(shared: ReadonlyMap<string, ReadonlySet<string>>): string {
  const modules = [...shared].sort(([a], [b]) => a.localeCompare(b));
  const lines = modules.map(([id, names], index) => {
    const aliases = [...names].sort().map((name) => [name, `${name}_${index}`] as const);
    return {
      taken: `import { ${aliases.map(([name, alias]) => `${name} as ${alias}`).join(", ")} } from "${id}";`,
      // The exports are getters, because a module may change what it exports.
      given: `"${id}": () => ({ __esModule: true, ${aliases.map(([name, alias]) => `get ${name}() { return ${alias}; }`).join(", ")} }),`,
    };
  });
  return `import { runPackedScript } from "./src/foundation/packed-script.ts";
${lines.map(({ taken }) => taken).join("\n")}
export const { mountDashboard } = runPackedScript("${ASSET}", {
${lines.map(({ given }) => given).join("\n")}
});`;
}

/** The names that a bundled script takes from each module that it requires, by module. */
function namesFromProgram(script: string): Map<string, Set<string>> {
  const uses = usesOfModules(script);
  const found = new Map<string, Set<string>>();
  for (const [, variable = "", id = ""] of script.matchAll(/\b(import_\w+)=require\("([^"]+)"\)/g)) {
    if (isBuiltin(id)) continue;
    const names = (uses.get(variable) ?? []).slice(1);
    // The whole module would be an object with all its exports, which the program would have to make at each start.
    if (names.includes(undefined)) throw new Error(`the dashboard takes all of ${id}, and not names of it`);
    found.set(id, new Set([...(found.get(id) ?? []), ...names.map(String)]));
  }
  return found;
}

/** Lists the names that are read of each variable that holds a module. An undefined name is a use of the variable itself, like its declaration. */
function usesOfModules(script: string): ReadonlyMap<string, readonly (string | undefined)[]> {
  const uses = new Map<string, (string | undefined)[]>();
  for (const [variable, name] of script.matchAll(/\bimport_\w+(?=(?:\.(\w+))?)/g)) {
    const names = uses.get(variable);
    if (names === undefined) uses.set(variable, [name]);
    else names.push(name);
  }
  return uses;
}

/** Bundles the dashboard. @returns the script, which requires files by their paths from the program's folder */
async function packScript(beside: Beside): Promise<string> {
  const { folder, buildFolder, assets } = beside;
  const text = await bundleBeside(beside, {
    entryPoints: [join(folder, ENTRY)],
    plugins: [takeFromProgram(folder), shortenLocals()],
    logLevel: "warning",
  });
  assets[ASSET] = join(buildFolder, ASSET);
  const script = asAscii(text);
  writeFileSync(assets[ASSET], pack(script));
  return script;
}

/** Takes every module that is not in the dashboard's folder from the program. */
function takeFromProgram(folder: string): Plugin {
  return {
    name: "take-from-program",
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) => {
        if (kind === "entry-point" || isBuiltin(path)) return null;
        if (!path.startsWith(".")) return { path, external: true };
        const own = relative(folder, resolve(resolveDir, path)).replaceAll(sep, "/");
        return own.startsWith(`${FOLDER}/`) ? null : { path: `./${own}`, external: true };
      });
    },
  };
}
