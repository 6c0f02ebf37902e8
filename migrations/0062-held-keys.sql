-- What `held.key_hash` is made of, so that a release can record the Idempotency-Key: the kind of key, SHA-256 of the Idempotency-Key and
-- of the body. NULL if the post had none, and in rows of earlier versions.
ALTER TABLE held ADD COLUMN sent_kind TEXT CHECK (sent_kind IN ('secret', 'publishable'));
ALTER TABLE held ADD COLUMN sent_key_hash BLOB;
ALTER TABLE held ADD COLUMN sent_body_hash BLOB;
CREATE INDEX held_by_sent_key ON held (endpoint_id, sent_kind, sent_key_hash) WHERE sent_key_hash IS NOT NULL;
