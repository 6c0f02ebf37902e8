-- Command lines that ask to be logged in, for ten minutes or until their token was made. The code of the device is there as its SHA-256.
CREATE TABLE login_request (
  device_hash BLOB PRIMARY KEY,
  -- What a person compares and types: XXXX-XXXX.
  user_code TEXT NOT NULL UNIQUE,
  -- As the client says it is called; what it asks for; where it asks from, cut to what counts as one client.
  client_name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  client_address TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'denied')),
  -- Who approved it.
  account_id TEXT REFERENCES account ON DELETE CASCADE,
  polled_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_request_by_age ON login_request (created_at);
CREATE INDEX login_request_by_client ON login_request (client_address);
