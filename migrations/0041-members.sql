-- Who sees a workspace, and what they may do in it. The account that a workspace names is one of its owners: letters about the
-- workspace go to it.
CREATE TABLE member (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
  -- A list of ids as JSON: the only endpoints that are seen. NULL is all of the workspace, later ones too.
  endpoints TEXT,
  -- Two switches for readers.
  may_export INTEGER NOT NULL CHECK (may_export IN (0, 1)),
  sees_spam_details INTEGER NOT NULL CHECK (sees_spam_details IN (0, 1)),
  since INTEGER NOT NULL,
  -- Who made them a member; NULL is nobody with an account.
  by_account_id TEXT REFERENCES account ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, account_id),
  CHECK (role <> 'owner' OR endpoints IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_account ON member (account_id);
CREATE INDEX member_by_maker ON member (by_account_id) WHERE by_account_id IS NOT NULL;

INSERT INTO member (workspace_id, account_id, role, endpoints, may_export, sees_spam_details, since, by_account_id)
  SELECT id, account_id, 'owner', NULL, 1, 1, created_at, NULL FROM workspace;

-- A workspace always has an owner.
CREATE TRIGGER workspace_gets_owner AFTER INSERT ON workspace BEGIN
  INSERT INTO member (workspace_id, account_id, role, endpoints, may_export, sees_spam_details, since, by_account_id)
    VALUES (new.id, new.account_id, 'owner', NULL, 1, 1, new.created_at, NULL);
END;
