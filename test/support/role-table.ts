/**
 * A table of the answers that each person got, to print at the end. It has a line for each operation or route, and a column for each
 * person.
 */
export interface RoleTable {
  note(row: string, person: string, answer: string): void;
  /** All lines of the table, beginning with the head. */
  lines(): string[];
  print(title: string): void;
}

/** Makes an empty table. @param people the columns, in their order */
export function roleTable(people: readonly string[]): RoleTable {
  const answers = new Map<string, Map<string, string>>();
  const lines = (): string[] => {
    const widths = people.map((person) => Math.max(9, person.length));
    const width = Math.max(...[...answers.keys()].map((row) => row.length), 1);
    const line = (row: string, cells: readonly string[]): string =>
      [row.padEnd(width), ...cells.map((cell, index) => cell.padEnd(widths[index] ?? 0))]
        .join("  ")
        .trimEnd();
    return [
      line("", people),
      ...[...answers].map(([row, cells]) =>
        line(
          row,
          people.map((person) => cells.get(person) ?? "not tried"),
        ),
      ),
    ];
  };
  return {
    note(row, person, answer) {
      const cells = answers.get(row) ?? new Map<string, string>();
      answers.set(row, cells.set(person, answer));
    },
    lines,
    print: (title) => void process.stdout.write(`\n${title}\n${lines().join("\n")}\n\n`),
  };
}
