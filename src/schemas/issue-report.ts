import { type Wording, wordingIn } from "../languages/wording.ts";
import { type Fields, labelAt, visitorLabel } from "./field-label.ts";
import { issueMessage, type FieldIssue, type IssueFacts, cutAfter } from "./issue.ts";

/** The largest number of issues that are reported for one field: an array of 30,000 wrong items needs no 30,000 sentences. */
export const MAX_ISSUES_IN_FIELD = 50;
/**
 * The largest size of `details` as JSON, in bytes. When an issue would exceed it, only the first issue of each further field is reported.
 */
export const MAX_REPORT_BYTES = 32_768;
/** The longest part of a wrong value that its issue repeats, in UTF-16 units. */
export const MAX_RECEIVED_LENGTH = 1000;

/** The parts of an entry of `details` besides its issues. */
const ENTRY = { issues: [], name: "ZodError" };

/** The `details` of a 400 answer: an entry for each field with issues. */
export type ValidationDetails = Record<string, { issues: FieldIssue[]; name: "ZodError" }>;

/** Collects the issues of one validation, by top-level field, and tracks the position of the validator in the data. */
export class IssueReport {
  readonly #issues = new Map<string, FieldIssue[]>();
  readonly #path: string[] = [];
  readonly #wording: Wording | null;
  readonly #nameOf: (path: readonly string[]) => string;
  #bytes = 0;
  #isFull = false;

  /**
   * @param wording the texts in the language of the visitor who reads the sentences; null for a developer. They are read only if there is
   * an issue.
   * @param definition has the labels that the sentences use
   */
  constructor(wording: Wording | null = null, definition: Fields = {}) {
    this.#wording = wording;
    const label = wording === null ? labelAt : visitorLabel;
    this.#nameOf = (path) => label(definition, path);
  }

  get isEmpty(): boolean {
    return this.#issues.size === 0;
  }

  /** Whether only the first issue of each field is still reported. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get first(): FieldIssue | undefined {
    const [issues] = this.#issues.values();
    return issues?.[0];
  }

  enter(name: string): void {
    this.#path.push(name);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Adds an issue for the value that was entered last, unless the field or the report is full. */
  add(facts: IssueFacts): void {
    this.#addAt([...this.#path], facts);
  }

  /** Adds the issues of another report. */
  addAll(details: ValidationDetails): void {
    for (const { issues } of Object.values(details))
      for (const issue of issues) this.#addAt(issue.path, issue);
  }

  #addAt(path: readonly string[], facts: IssueFacts): void {
    const field = path[0] ?? "";
    const known = this.#issues.get(field) ?? [];
    if (known.length > 0 && (this.#isFull || known.length >= MAX_ISSUES_IN_FIELD)) return;
    const message = issueMessage(path, facts, this.#wording ?? wordingIn("en"), this.#nameOf);
    const issue: FieldIssue = { ...withShortValue(facts), path, message };
    const entry = known.length === 0 ? [field, ENTRY] : [];
    this.#bytes += Buffer.byteLength(JSON.stringify([...entry, issue]));
    this.#isFull ||= this.#bytes > MAX_REPORT_BYTES;
    if (known.length > 0 && this.#isFull) return;
    known.push(issue);
    this.#issues.set(field, known);
  }

  details(): ValidationDetails {
    const details: ValidationDetails = {};
    for (const [field, issues] of this.#issues) details[field] = { issues, name: "ZodError" };
    return details;
  }
}

/** Writes the same issues in sentences for a visitor, within the same limits. */
export function reword(details: ValidationDetails, wording: Wording, definition: Fields): ValidationDetails {
  const report = new IssueReport(wording, definition);
  report.addAll(details);
  return report.details();
}

function withShortValue(facts: IssueFacts): IssueFacts {
  return facts.code === "invalid_enum_value" && typeof facts.received === "string"
    ? { ...facts, received: cutAfter(facts.received, MAX_RECEIVED_LENGTH) }
    : facts;
}
