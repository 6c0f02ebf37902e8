-- People who sign in to the dashboard. The rows of large tables stay as they are: only `account` gets a column.

-- An operator sees every workspace. The oldest account is one.
ALTER TABLE account ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1));
UPDATE account SET is_operator = 1 WHERE id = (SELECT id FROM account ORDER BY created_at, id LIMIT 1);

CREATE TABLE credential (
  account_id TEXT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
  -- argon2id of the password, in PHC format.
  password_hash TEXT NOT NULL,
  -- The secret of the second factor, encrypted if a key is configured; NULL without one.
  totp_secret BLOB,
  -- The 30-second step of the last code that was used: neither it nor an earlier one works again.
  totp_step INTEGER,
  -- When the password or the second factor last changed.
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_code (
  account_id TEXT NOT NULL REFERENCES credential ON DELETE CASCADE,
  -- SHA-256 of the code.
  hash BLOB NOT NULL,
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_link (
  -- The newest link of an account; an earlier one does not work any more.
  account_id TEXT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
  -- SHA-256 of the token.
  token_hash BLOB NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- SHA-256 of the secret half of the cookie.
  secret_hash BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  -- To the minute.
  seen_at INTEGER NOT NULL,
  -- The beginning of what the browser calls itself.
  user_agent TEXT NOT NULL,
  -- NULL unless dashboard.logAddresses is set.
  ip_address TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_account ON session (account_id, seen_at);

-- A row is added when somebody reads a submission, so that an unread one costs nothing.
CREATE TABLE submission_read (
  submission_id TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  PRIMARY KEY (submission_id, account_id)
) STRICT, WITHOUT ROWID;

-- It refers to nothing, so that an event stays when its account or workspace goes.
CREATE TABLE audit_event (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- Who did it, with the e-mail address of that time; NULL is the command line.
  account_id TEXT,
  email TEXT,
  -- NULL when it is about no workspace.
  workspace_id TEXT,
  -- What was done, like `endpoint.create`.
  action TEXT NOT NULL,
  -- What it was done to: an id or an e-mail address.
  subject TEXT NOT NULL,
  detail TEXT
) STRICT;
