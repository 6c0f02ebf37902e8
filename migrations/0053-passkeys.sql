-- Passkeys (WebAuthn): what somebody's device signs in with.
CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- As the device names it.
  credential_id BLOB NOT NULL UNIQUE,
  -- The host for which it was made, of server.baseUrl: it works for no other.
  host TEXT NOT NULL,
  -- COSE.
  public_key BLOB NOT NULL,
  -- How often the device says that it was used; 0 if it does not count.
  counter INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_by_account ON passkey (account_id, created_at);

-- Challenges that a passkey has answered, until they are too old to be answered again.
CREATE TABLE spent_challenge (
  -- SHA-256
  hash BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_challenge_by_age ON spent_challenge (expires_at);

-- Recovery codes stand in for a passkey too, and an account with passkeys may have no password.
CREATE TABLE recovery_code_new (
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- SHA-256 of the code.
  hash BLOB NOT NULL,
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;
INSERT INTO recovery_code_new SELECT account_id, hash FROM recovery_code;
DROP TABLE recovery_code;
ALTER TABLE recovery_code_new RENAME TO recovery_code;
