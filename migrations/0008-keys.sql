-- A key's end is final: the time alone would let it work again after the clock was set back.
ALTER TABLE api_key ADD COLUMN is_revoked INTEGER NOT NULL DEFAULT 0 CHECK (is_revoked IN (0, 1));
UPDATE api_key SET is_revoked = 1 WHERE revoked_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER);

-- The first 200 of an Idempotency-Key, for 24 h, apart for each kind of key: whoever has the publishable key of a page must
-- not take those that a backend will use. Both hashes are SHA-256.
CREATE TABLE new_idempotency (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
  key_hash BLOB NOT NULL,
  body_hash BLOB NOT NULL,
  submission_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, kind, key_hash)
) STRICT, WITHOUT ROWID;
-- Which kind sent the earlier ones is not known, so either gets the first answer again.
INSERT INTO new_idempotency
  SELECT endpoint_id, kind, key_hash, body_hash, submission_id, created_at
  FROM idempotency, (SELECT 'publishable' AS kind UNION ALL SELECT 'secret')
  ORDER BY endpoint_id, kind, key_hash;
DROP TABLE idempotency;
ALTER TABLE new_idempotency RENAME TO idempotency;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
