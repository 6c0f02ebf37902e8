import { issueMessage, type Issue, type IssueFacts } from "./issue.ts";

/** Issues told of one field; an array of 30,000 wrong items needs no 30,000 sentences. */
export const MAX_ISSUES_IN_FIELD = 50;
/** Characters of JSON that all issues may take; past it, each further field is told its first issue only. */
export const MAX_REPORT_CHARACTERS = 65_536;

/** `details` of a 400 answer: an entry for each field that failed. */
export type ValidationDetails = Record<string, { issues: Issue[]; name: "ZodError" }>;

/** Collects the issues of one validation, by top-level field, and knows where in the data the validator is. */
export class IssueReport {
  readonly #issues = new Map<string, Issue[]>();
  readonly #path: string[] = [];
  #characters = 0;

  get isEmpty(): boolean {
    return this.#issues.size === 0;
  }

  get first(): Issue | undefined {
    const [issues] = this.#issues.values();
    return issues?.[0];
  }

  /** Whether more issues of the current field would not be told. */
  get isFieldFull(): boolean {
    const told = this.#issues.get(this.#path[0] ?? "")?.length ?? 0;
    return told >= MAX_ISSUES_IN_FIELD || (told > 0 && this.#characters > MAX_REPORT_CHARACTERS);
  }

  enter(name: string): void {
    this.#path.push(name);
  }

  leave(): void {
    this.#path.pop();
  }

  add(facts: IssueFacts): void {
    if (this.isFieldFull) return;
    const path = [...this.#path];
    const issue: Issue = { ...facts, path, message: issueMessage(path, facts) };
    this.#characters += JSON.stringify(issue).length;
    const field = path[0] ?? "";
    const told = this.#issues.get(field);
    if (told === undefined) this.#issues.set(field, [issue]);
    else told.push(issue);
  }

  details(): ValidationDetails {
    const details: ValidationDetails = {};
    for (const [field, issues] of this.#issues) details[field] = { issues, name: "ZodError" };
    return details;
  }
}
