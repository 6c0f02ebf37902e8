// Made by scripts/embed-migrations.ts from migrations/*.sql.
export const migrations = [] as const;
