-- Who an account is at an OpenID issuer: a subject keeps its account when its address changes.
CREATE TABLE oidc_binding (
  -- As the issuer writes both.
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  bound_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oidc_binding_by_account ON oidc_binding (account_id, issuer);

-- The issuer whose group made the account an operator, and may take that back; NULL if somebody did it.
ALTER TABLE account ADD COLUMN operator_by TEXT;
-- The issuer by which it began; NULL if it began here.
ALTER TABLE session ADD COLUMN issuer TEXT;
