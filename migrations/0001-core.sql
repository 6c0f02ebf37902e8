-- Times are integers: milliseconds since 1970 UTC. Ids are TypeIDs, so they sort by time.

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE workspace (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX workspace_by_account ON workspace (account_id);

-- Accepted submissions a workspace and UTC calendar month (YYYY-MM); what plan limits count.
CREATE TABLE usage (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  month TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused')),
  schema_version INTEGER NOT NULL,
  allowed_origins TEXT NOT NULL,
  unknown_fields TEXT NOT NULL CHECK (unknown_fields IN ('drop', 'keep', 'reject')),
  -- NULL is the built-in list.
  honeypots TEXT,
  success_url TEXT,
  error_url TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX endpoint_by_workspace ON endpoint (workspace_id);

CREATE TABLE endpoint_schema (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  version INTEGER NOT NULL,
  definition TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
  -- The 12 characters of the key that it is looked up by.
  lookup TEXT NOT NULL UNIQUE,
  -- argon2id of the whole key, in PHC format.
  hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- From then on the key is refused; set ahead of time by a rotation with grace.
  revoked_at INTEGER,
  -- When a secret key was last refused because a browser sent it.
  seen_in_browser_at INTEGER
) STRICT;
CREATE INDEX api_key_by_endpoint ON api_key (endpoint_id);

-- seq is the order of commits: what `tail` follows. AUTOINCREMENT, so that a deleted row's number is not used again.
CREATE TABLE submission (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  schema_version INTEGER NOT NULL,
  data TEXT NOT NULL,
  spam_score INTEGER NOT NULL CHECK (spam_score BETWEEN 0 AND 100),
  spam_reasons TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX submission_by_endpoint ON submission (endpoint_id, id);

-- The first 200 of an Idempotency-Key, for 24 h. Both hashes are SHA-256.
CREATE TABLE idempotency (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  key_hash BLOB NOT NULL,
  body_hash BLOB NOT NULL,
  submission_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Raised by every change to what servers hold in memory: endpoints, schemas, keys, plans.
CREATE TABLE settings_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
) STRICT;
INSERT INTO settings_version (id, version) VALUES (1, 1);
