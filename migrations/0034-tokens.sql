-- Tokens of the HTTP API. They are random, so a plain SHA-256 of the whole token is enough.
CREATE TABLE api_token (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- The 12 characters by which it is found.
  lookup TEXT NOT NULL UNIQUE,
  hash BLOB NOT NULL,
  -- Whose it is; NULL is a service token, which belongs to a workspace and may be bound to one endpoint of it.
  account_id TEXT REFERENCES account ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspace ON DELETE CASCADE,
  endpoint_id TEXT REFERENCES endpoint ON DELETE CASCADE,
  -- A list as JSON.
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- NULL is never.
  expires_at INTEGER,
  -- To the day.
  last_used_at INTEGER,
  revoked_at INTEGER,
  CHECK ((account_id IS NULL) = (workspace_id IS NOT NULL)),
  CHECK (endpoint_id IS NULL OR workspace_id IS NOT NULL)
) STRICT;
CREATE INDEX api_token_by_account ON api_token (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX api_token_by_workspace ON api_token (workspace_id) WHERE workspace_id IS NOT NULL;
CREATE INDEX api_token_by_endpoint ON api_token (endpoint_id) WHERE endpoint_id IS NOT NULL;
CREATE INDEX api_token_by_expiry ON api_token (expires_at) WHERE expires_at IS NOT NULL;

-- Which token did it, with its name of that time; its account stands in account_id and email, if it has one.
ALTER TABLE audit_event ADD COLUMN token_id TEXT;
ALTER TABLE audit_event ADD COLUMN token_name TEXT;
-- Who typed the command, as the operating system names the user.
ALTER TABLE audit_event ADD COLUMN terminal_user TEXT;
CREATE INDEX audit_event_by_token ON audit_event (token_id, id) WHERE token_id IS NOT NULL;
