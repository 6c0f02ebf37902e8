-- ../0055-challenge.sql says more.
ALTER TABLE endpoint ADD COLUMN challenge text COLLATE "C";
ALTER TABLE endpoint ADD COLUMN challenge_secret bytea;
ALTER TABLE endpoint ADD COLUMN challenge_fault text COLLATE "C";
CREATE TABLE spent_proof (
  id bytea PRIMARY KEY,
  used_by text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX spent_proof_by_end ON spent_proof (expires_at);
