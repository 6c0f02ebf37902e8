-- ../0041-members.sql says more.
CREATE TABLE member (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspace ON DELETE CASCADE,
  account_id text COLLATE "C" NOT NULL REFERENCES account ON DELETE CASCADE,
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
  endpoints text COLLATE "C",
  may_export smallint NOT NULL CHECK (may_export IN (0, 1)),
  sees_spam_details smallint NOT NULL CHECK (sees_spam_details IN (0, 1)),
  since bigint NOT NULL,
  by_account_id text COLLATE "C" REFERENCES account ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, account_id),
  CHECK (role <> 'owner' OR endpoints IS NULL)
);
CREATE INDEX member_by_account ON member (account_id);
CREATE INDEX member_by_maker ON member (by_account_id) WHERE by_account_id IS NOT NULL;

INSERT INTO member (workspace_id, account_id, role, endpoints, may_export, sees_spam_details, since, by_account_id)
  SELECT id, account_id, 'owner', NULL, 1, 1, created_at, NULL FROM workspace;

CREATE FUNCTION give_workspace_owner() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO member (workspace_id, account_id, role, endpoints, may_export, sees_spam_details, since, by_account_id)
    VALUES (new.id, new.account_id, 'owner', NULL, 1, 1, new.created_at, NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER workspace_gets_owner AFTER INSERT ON workspace
  FOR EACH ROW EXECUTE FUNCTION give_workspace_owner();
