-- ../0062-held-keys.sql says what they are for.
ALTER TABLE held ADD COLUMN sent_kind text COLLATE "C" CHECK (sent_kind IN ('secret', 'publishable'));
ALTER TABLE held ADD COLUMN sent_key_hash bytea;
ALTER TABLE held ADD COLUMN sent_body_hash bytea;
CREATE INDEX held_by_sent_key ON held (endpoint_id, sent_kind, sent_key_hash) WHERE sent_key_hash IS NOT NULL;
