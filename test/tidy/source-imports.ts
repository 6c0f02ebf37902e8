/** Returns the folder of a path: `app` for `src/app/features.ts`, `spam` for `src/spam/signals/links.ts`. */
export function folderOf(path: string): string {
  return (path.split("/")[1] ?? "").replace(/\.ts$/, "");
}

interface Import {
  readonly specifier: string;
  readonly typesOnly: boolean;
}

/** Lists every import, including those that are made while the program runs. */
export function importsOf(text: string): Import[] {
  const statements = /^(?:import|export)\s+(type\s+)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']/gm;
  const calls = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
  return [
    ...[...text.matchAll(statements)].map(([, type, specifier = ""]) => ({
      specifier,
      typesOnly: type !== undefined,
    })),
    ...[...text.matchAll(calls)].map(([, specifier = ""]) => ({ specifier, typesOnly: false })),
  ];
}

/** Returns the path of the file that a relative import names. */
export function resolveImport(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Finds the files that reach themselves by imports, including imports of types and imports on demand. */
export function findCircles(files: readonly { readonly path: string; readonly text: string }[]): string[] {
  const imported = new Map(
    files.map(({ path, text }) => {
      const own = importsOf(text).filter(({ specifier }) => specifier.startsWith("."));
      return [path, own.map(({ specifier }) => resolveImport(path, specifier))];
    }),
  );
  return [...imported].flatMap(([path, direct]) => {
    const reached = new Set(direct);
    for (const each of reached) for (const next of imported.get(each) ?? []) reached.add(next);
    return reached.has(path) ? [path] : [];
  });
}
