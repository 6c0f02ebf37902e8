import { readFileSync } from "node:fs";
import { OPERATIONS } from "../../src/api/all-operations.ts";
import { type Access, ACCESS, ruleOf } from "../../src/operations/access.ts";
import { renderTable } from "./table.ts";

const HEADING = "## Who may do what";

/** Renders `docs/guarantees.md` with the table of access from the code. The rest of the page stays as it is. */
export function renderGuarantees(root: URL): string {
  const page = readFileSync(new URL("docs/guarantees.md", root), "utf8");
  const start = page.indexOf(`${HEADING}\n`);
  if (start === -1) throw new Error(`docs/guarantees.md has no heading "${HEADING}"`);
  const next = page.indexOf("\n## ", start + HEADING.length);
  return `${page.slice(0, start)}${renderAccess()}${next === -1 ? "" : page.slice(next)}`;
}

function renderAccess(): string {
  return `${HEADING}

What people and programs do is one operation in each door, and each operation has a row of this table. An account has the role of its
membership in a workspace, and an operator's is above all of them. Each role may do what those before it may: reader, editor, owner,
operator. The command line on the machine may do everything. What is in a workspace that somebody does not see is answered like what
does not exist.

${renderTable(["access", "from this role on", "scopes that a token needs", "to do what"], accessRows())}

${renderTable(["operation", "access", "what it does"], operationRows())}
`;
}

function accessRows(): string[][] {
  return (Object.keys(ACCESS) as Access[]).map((access) => {
    const { role, scopes, about } = ruleOf(access);
    const tokens = scopes === null ? "never by a token" : scopes.map((scope) => `\`${scope}\``).join(", ");
    return [`\`${access}\``, role ?? "anybody with an account", tokens, about];
  });
}

function operationRows(): string[][] {
  return OPERATIONS.toSorted((left, right) => (left.name < right.name ? -1 : 1)).map(
    ({ name, access, furtherAccess = [], summary }) => [
      `\`${name}\``,
      accessText(access, furtherAccess),
      summary,
    ],
  );
}

function accessText(access: Access, further: readonly Access[]): string {
  return [`\`${access}\``, ...further.map((each) => `sometimes \`${each}\``)].join(", ");
}
