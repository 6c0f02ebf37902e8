import type { Generated } from "kysely";

/** Row types of the tables about who signs in, and about what they read and changed. */
export interface PeopleTables {
  credential: CredentialRow;
  recovery_code: RecoveryCodeRow;
  sign_in_link: SignInLinkRow;
  mailed_link: MailedLinkRow;
  session: SessionRow;
  sign_in_key: SignInKeyRow;
  known_address: KnownAddressRow;
  submission_read: SubmissionReadRow;
  audit_event: AuditEventRow;
}

interface CredentialRow {
  account_id: string;
  password_hash: string;
  /** Sealed or plain. */
  totp_secret: Buffer | null;
  totp_step: number | null;
  changed_at: number;
}

interface RecoveryCodeRow {
  account_id: string;
  hash: Buffer;
}

interface SignInLinkRow {
  account_id: string;
  token_hash: Buffer;
  expires_at: number;
}

interface MailedLinkRow {
  purpose: "sign-up" | "reset";
  email: string;
  token_hash: Buffer;
  created_at: number;
}

interface SessionRow {
  id: string;
  account_id: string;
  secret_hash: Buffer;
  created_at: number;
  seen_at: number;
  user_agent: string;
  ip_address: string | null;
}

interface SignInKeyRow {
  id: number;
  /** Sealed or plain. */
  key: Buffer;
}

interface KnownAddressRow {
  account_id: string;
  address_hash: Buffer;
  seen_at: number;
}

interface SubmissionReadRow {
  submission_id: string;
  account_id: string;
}

interface AuditEventRow {
  id: Generated<number>;
  at: number;
  account_id: string | null;
  email: string | null;
  workspace_id: string | null;
  action: string;
  subject: string;
  detail: string | null;
}
