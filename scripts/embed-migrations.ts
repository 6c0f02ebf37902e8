import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../migrations/", import.meta.url);
const target = new URL("../src/database/migrations.generated.ts", import.meta.url);

/** The source of the module that carries every migration inside the executable, in order of number. */
export function renderMigrations(): string {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const entries = names.map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new Error(`migrations/${name}: expected number ${index + 1}`);
    const sql = readFileSync(new URL(name, folder), "utf8");
    return `  { version: ${version}, name: ${JSON.stringify(name)}, sql: ${JSON.stringify(sql)} },\n`;
  });
  return `// Made by scripts/embed-migrations.ts from migrations/*.sql.\nexport const migrations = [\n${entries.join("")}] as const;\n`;
}

if (import.meta.main) writeFileSync(target, renderMigrations());
