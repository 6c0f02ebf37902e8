import { byEngine, type TextsByEngine } from "../../database/steps.ts";
import { CLASS_SCORES } from "../../spam/spam-verdict.ts";
import { NOT_BINNED_SQL } from "../stored/submission-bin.ts";
import type { SubmissionFilter } from "../stored/submission-store.ts";
import type { TextMatcher } from "./match-text.ts";

/** A part of a WHERE clause. */
export interface SqlCondition {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** A condition that may be written otherwise for each engine. */
interface SqlConditionByEngine extends Pick<SqlCondition, "parameters"> {
  readonly sql: string | TextsByEngine;
}

export function inWordsOf(engine: keyof TextsByEngine, { sql }: SqlConditionByEngine): string {
  return typeof sql === "string" ? sql : sql[engine];
}

/** The conditions of a filter that no index answers. */
export function conditionsOf(
  filter: SubmissionFilter,
  matcher: TextMatcher | null,
): readonly SqlConditionByEngine[] {
  const { spamClass, unreadBy, isDeleted } = filter;
  const conditions: SqlConditionByEngine[] = isDeleted ? [] : [{ sql: NOT_BINNED_SQL, parameters: [] }];
  if (spamClass !== null)
    conditions.push({ sql: "AND spam_score BETWEEN ? AND ?", parameters: CLASS_SCORES[spamClass] });
  if (unreadBy !== null) conditions.push({ sql: UNREAD_SQL, parameters: [unreadBy] });
  conditions.push(...workConditionsOf(filter));
  const found = matcher?.sql ?? null;
  if (matcher !== null && found !== null)
    conditions.push({ sql: byEngine((engine) => `AND ${found[engine]}`), parameters: matcher.parameters });
  return conditions;
}

const UNREAD_SQL = `AND NOT EXISTS
  (SELECT 1 FROM submission_read WHERE submission_id = submission.id AND account_id = ?)`;

function workConditionsOf({ state, assignee }: SubmissionFilter): readonly SqlCondition[] {
  return [
    ...(state === null
      ? []
      : [{ sql: workSql(state === "done" ? "EXISTS" : "NOT EXISTS", "state = 'done'"), parameters: [] }]),
    ...(assignee === null
      ? []
      : assignee === "nobody"
        ? [{ sql: workSql("NOT EXISTS", "assignee_id IS NOT NULL"), parameters: [] }]
        : [{ sql: workSql("EXISTS", "assignee_id = ?"), parameters: [assignee.id] }]),
  ];
}

function workSql(rows: "EXISTS" | "NOT EXISTS", condition: string): string {
  return `AND ${rows} (SELECT 1 FROM submission_work WHERE submission_work.id = submission.id AND ${condition})`;
}
