-- The key of the cookie by which a browser is known that signed in before, and of the hashes of addresses. It is made when somebody
-- signs in for the first time.
CREATE TABLE sign_in_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes, sealed or plain.
  key BLOB NOT NULL
) STRICT;

-- Addresses from which an account was used in the last 30 days: strangers who guess its password do not make them wait.
CREATE TABLE known_address (
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- HMAC-SHA-256 of the account and the address (IPv6: its /64).
  address_hash BLOB NOT NULL,
  -- To the day.
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, address_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_address_by_age ON known_address (seen_at);
