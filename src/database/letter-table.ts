import type { Generated } from "kysely";

/** What an e-mail about submissions is made of besides them. */
export interface MailFrameRow {
  delivery_id: string;
  /** JSON. */
  frame: string;
}

/** Who was told of a monthly limit. */
export interface LimitNoticeRow {
  workspace_id: string;
  /** `YYYY-MM`, UTC. */
  month: string;
  what: "near" | "full" | "held";
  told_at: number;
}

/** The row type of letters that must not be lost. */
export interface LetterRow {
  id: string;
  kind: "security" | "operator" | "confirmation";
  topic: string;
  address: string;
  recipient_id: string | null;
  /** JSON of subject, paragraphs and link. */
  content: string;
  state: "pending" | "delivered" | "failed";
  attempts: Generated<number>;
  spent: Generated<number>;
  due_at: number;
  claimed_by: string | null;
  /** JSON of the last attempt that ended. */
  last_attempt: string | null;
  finished_at: number | null;
}
