-- ../0045-sign-in-by-issuer.sql says more.
CREATE TABLE oidc_binding (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL REFERENCES account ON DELETE CASCADE,
  bound_at bigint NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE UNIQUE INDEX oidc_binding_by_account ON oidc_binding (account_id, issuer);

ALTER TABLE account ADD COLUMN operator_by text COLLATE "C";
ALTER TABLE session ADD COLUMN issuer text COLLATE "C";
