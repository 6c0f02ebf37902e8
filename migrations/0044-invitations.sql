-- Who is asked to become a member. Nothing but the link that is handed over, or that of the letter, has a token.
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  email TEXT NOT NULL,
  -- As of a member.
  role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
  endpoints TEXT,
  may_export INTEGER NOT NULL CHECK (may_export IN (0, 1)),
  sees_spam_details INTEGER NOT NULL CHECK (sees_spam_details IN (0, 1)),
  -- SHA-256 of the token of the link that its maker was shown; NULL if none was.
  handed_hash BLOB UNIQUE,
  -- The same of the link in the letter; NULL before it is sent.
  mailed_hash BLOB UNIQUE,
  created_at INTEGER NOT NULL,
  -- Its maker; NULL is nobody with an account. It is worth nothing without them.
  by_account_id TEXT REFERENCES account ON DELETE CASCADE,
  -- Whether an operator made it, whose word for an address is taken.
  by_operator INTEGER NOT NULL CHECK (by_operator IN (0, 1)),
  CHECK (role <> 'owner' OR endpoints IS NULL)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX invitation_by_email ON invitation (lower(email), workspace_id);
CREATE INDEX invitation_by_workspace ON invitation (workspace_id);
CREATE INDEX invitation_by_maker ON invitation (by_account_id) WHERE by_account_id IS NOT NULL;
CREATE INDEX invitation_by_age ON invitation (created_at);

-- Whether the account was made with a link that another owner had too, so that nobody knows whose address it is before it is proved.
ALTER TABLE account ADD COLUMN is_doubtful INTEGER NOT NULL DEFAULT 0 CHECK (is_doubtful IN (0, 1));
