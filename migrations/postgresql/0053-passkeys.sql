-- ../0053-passkeys.sql says more.
CREATE TABLE passkey (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES account ON DELETE CASCADE,
  credential_id bytea NOT NULL UNIQUE,
  host text COLLATE "C" NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint
);
CREATE INDEX passkey_by_account ON passkey (account_id, created_at);

CREATE TABLE spent_challenge (
  hash bytea PRIMARY KEY,
  expires_at bigint NOT NULL
);
CREATE INDEX spent_challenge_by_age ON spent_challenge (expires_at);

ALTER TABLE recovery_code DROP CONSTRAINT recovery_code_account_id_fkey;
ALTER TABLE recovery_code ADD CONSTRAINT recovery_code_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES account ON DELETE CASCADE;
