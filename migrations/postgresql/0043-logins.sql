-- ../0043-logins.sql says more.
CREATE TABLE login_request (
  device_hash bytea PRIMARY KEY,
  user_code text COLLATE "C" NOT NULL UNIQUE,
  client_name text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  client_address text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'approved', 'denied')),
  account_id text COLLATE "C" REFERENCES account ON DELETE CASCADE,
  polled_at bigint NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX login_request_by_age ON login_request (created_at);
CREATE INDEX login_request_by_client ON login_request (client_address);
