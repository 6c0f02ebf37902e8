-- What a link in a letter proves: that whoever uses it reads the mail of this address. The newest link of an address counts.
CREATE TABLE mailed_link (
  -- SHA-256 of the token.
  token_hash BLOB PRIMARY KEY,
  -- `sign-up` makes the account, which is not there before; `reset` sets a forgotten password.
  purpose TEXT NOT NULL CHECK (purpose IN ('sign-up', 'reset')),
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mailed_link_by_email ON mailed_link (purpose, lower(email));
CREATE INDEX mailed_link_by_age ON mailed_link (purpose, created_at);
