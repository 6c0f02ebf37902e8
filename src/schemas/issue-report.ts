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

  enter(name: string): void {
    this.#path.push(name);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Tells an issue of the value that was entered last, unless the field or the report is full. */
  add(facts: IssueFacts): void {
    const field = this.#path[0] ?? "";
    const told = this.#issues.get(field) ?? [];
    const isFull = told.length >= MAX_ISSUES_IN_FIELD || this.#characters > MAX_REPORT_CHARACTERS;
    if (isFull && told.length > 0) return;
    const path = [...this.#path];
    const issue: Issue = { ...facts, path, message: issueMessage(path, facts) };
    this.#characters += JSON.stringify(issue).length;
    told.push(issue);
    this.#issues.set(field, told);
  }

  details(): ValidationDetails {
    const details: ValidationDetails = {};
    for (const [field, issues] of this.#issues) details[field] = { issues, name: "ZodError" };
    return details;
  }
}
