-- Held posts are bounded in bytes too, and may be held because their page's origin is not allowed. Triggers count the bytes.
DROP TRIGGER held_comes;
DROP TRIGGER held_goes;

CREATE TABLE held_anew (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  why TEXT NOT NULL CHECK (why IN ('spam', 'limit', 'origin')),
  -- Whether a honeypot was filled: those go first when there are too many.
  trapped INTEGER NOT NULL CHECK (trapped IN (0, 1)),
  -- SHA-256 of the Idempotency-Key: a client that tries again is held once. NULL where it sent none.
  key_hash BLOB,
  schema_version INTEGER NOT NULL,
  data TEXT NOT NULL,
  spam_score INTEGER NOT NULL CHECK (spam_score BETWEEN 0 AND 100),
  spam_reasons TEXT NOT NULL,
  spam_version INTEGER NOT NULL DEFAULT 1,
  ip_address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- A hash of the submitter's network; the address itself in rows of earlier versions.
  network TEXT NOT NULL DEFAULT '',
  -- The page's origin, if the post is held for it.
  origin TEXT,
  -- Bytes of its texts.
  bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO held_anew
  SELECT id, workspace_id, endpoint_id, why, trapped, key_hash, schema_version, data, spam_score, spam_reasons, spam_version,
    ip_address, user_agent, created_at, network, NULL,
    octet_length(id) + octet_length(data) + octet_length(spam_reasons) + octet_length(ip_address) + octet_length(user_agent)
  FROM held;
DROP TABLE held;
ALTER TABLE held_anew RENAME TO held;
CREATE INDEX held_by_endpoint ON held (endpoint_id, id);
CREATE UNIQUE INDEX held_by_key ON held (endpoint_id, key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX held_by_network ON held (workspace_id, network, trapped DESC, id);
-- These go before all others of the workspace, and have a bound of their own by endpoint.
CREATE INDEX held_of_origins ON held (workspace_id, id) WHERE why = 'origin';
CREATE INDEX held_of_origins_by_endpoint ON held (endpoint_id, id) WHERE why = 'origin';

ALTER TABLE held_total ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE held_total SET bytes =
  coalesce((SELECT sum(held.bytes) FROM held WHERE held.workspace_id = held_total.workspace_id), 0);

CREATE TRIGGER held_comes AFTER INSERT ON held BEGIN
  INSERT INTO held_total (workspace_id, posts, bytes) VALUES (new.workspace_id, 1, new.bytes)
    ON CONFLICT DO UPDATE SET posts = posts + 1, bytes = bytes + excluded.bytes;
  INSERT INTO held_network VALUES (new.workspace_id, new.network, 1, new.trapped, new.id)
    ON CONFLICT DO UPDATE SET posts = posts + 1,
      first_id = iif((-excluded.first_trapped, excluded.first_id) < (-first_trapped, first_id),
        excluded.first_id, first_id),
      first_trapped = max(first_trapped, excluded.first_trapped);
END;
CREATE TRIGGER held_goes AFTER DELETE ON held BEGIN
  UPDATE held_total SET posts = posts - 1, bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
  DELETE FROM held_network
    WHERE workspace_id = old.workspace_id AND network = old.network AND NOT EXISTS
      (SELECT 1 FROM held WHERE workspace_id = old.workspace_id AND network = old.network);
  UPDATE held_network SET posts = posts - 1, (first_trapped, first_id) =
      (SELECT trapped, id FROM held WHERE workspace_id = old.workspace_id AND network = old.network
        ORDER BY trapped DESC, id LIMIT 1)
    WHERE workspace_id = old.workspace_id AND network = old.network;
END;
