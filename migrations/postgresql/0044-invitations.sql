-- ../0044-invitations.sql says more.
CREATE TABLE invitation (
  id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspace ON DELETE CASCADE,
  email text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
  endpoints text COLLATE "C",
  may_export smallint NOT NULL CHECK (may_export IN (0, 1)),
  sees_spam_details smallint NOT NULL CHECK (sees_spam_details IN (0, 1)),
  handed_hash bytea UNIQUE,
  mailed_hash bytea UNIQUE,
  created_at bigint NOT NULL,
  by_account_id text COLLATE "C" REFERENCES account ON DELETE CASCADE,
  by_operator smallint NOT NULL CHECK (by_operator IN (0, 1)),
  CHECK (role <> 'owner' OR endpoints IS NULL)
);
CREATE UNIQUE INDEX invitation_by_email ON invitation (lower(email), workspace_id);
CREATE INDEX invitation_by_workspace ON invitation (workspace_id);
CREATE INDEX invitation_by_maker ON invitation (by_account_id) WHERE by_account_id IS NOT NULL;
CREATE INDEX invitation_by_age ON invitation (created_at);

ALTER TABLE account ADD COLUMN is_doubtful smallint NOT NULL DEFAULT 0 CHECK (is_doubtful IN (0, 1));
