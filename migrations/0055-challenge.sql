-- What a form asks of visitors before it believes that no robot sends it: JSON of its kind, whether it is required, and the site key of a
-- service. NULL is off. The service's secret is sealed like other secrets; challenge_fault says why the service gave no verdict lately.
ALTER TABLE endpoint ADD COLUMN challenge TEXT;
ALTER TABLE endpoint ADD COLUMN challenge_secret BLOB;
ALTER TABLE endpoint ADD COLUMN challenge_fault TEXT;
CREATE TABLE spent_proof (
  id BLOB PRIMARY KEY,
  used_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_proof_by_end ON spent_proof (expires_at);
