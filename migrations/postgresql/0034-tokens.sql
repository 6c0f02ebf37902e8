-- ../0034-tokens.sql says more.
CREATE TABLE api_token (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  lookup text COLLATE "C" NOT NULL UNIQUE,
  hash bytea NOT NULL,
  account_id text COLLATE "C" REFERENCES account ON DELETE CASCADE,
  workspace_id text COLLATE "C" REFERENCES workspace ON DELETE CASCADE,
  endpoint_id text COLLATE "C" REFERENCES endpoint ON DELETE CASCADE,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint,
  CHECK ((account_id IS NULL) = (workspace_id IS NOT NULL)),
  CHECK (endpoint_id IS NULL OR workspace_id IS NOT NULL)
);
CREATE INDEX api_token_by_account ON api_token (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX api_token_by_workspace ON api_token (workspace_id) WHERE workspace_id IS NOT NULL;
CREATE INDEX api_token_by_endpoint ON api_token (endpoint_id) WHERE endpoint_id IS NOT NULL;
CREATE INDEX api_token_by_expiry ON api_token (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE audit_event ADD COLUMN token_id text COLLATE "C";
ALTER TABLE audit_event ADD COLUMN token_name text COLLATE "C";
ALTER TABLE audit_event ADD COLUMN terminal_user text COLLATE "C";
CREATE INDEX audit_event_by_token ON audit_event (token_id, id) WHERE token_id IS NOT NULL;
