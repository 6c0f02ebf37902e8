CREATE TABLE mailed_link (
  token_hash bytea PRIMARY KEY,
  purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('sign-up', 'reset')),
  email text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE UNIQUE INDEX mailed_link_by_email ON mailed_link (purpose, lower(email));
CREATE INDEX mailed_link_by_age ON mailed_link (purpose, created_at);
