-- What the first request with an Idempotency-Key was answered over the API, without secrets. NULL is no answer yet, or one that is too
-- large to be kept.
CREATE TABLE api_answer (
  -- Whose token it was: an account, a workspace or an endpoint.
  owner TEXT NOT NULL,
  operation TEXT NOT NULL,
  key_hash BLOB NOT NULL,
  body_hash BLOB NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner, operation, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_answer_by_age ON api_answer (created_at);
