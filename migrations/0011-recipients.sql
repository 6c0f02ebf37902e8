-- Who gets messages is one thing, and how they are sent there is another: a recipient of any kind has a state, a breaker and
-- deliveries, and a webhook adds what HTTP needs. The rows of large tables stay as they are: renaming columns touches none.
ALTER TABLE webhook RENAME TO recipient;
DROP INDEX webhook_by_endpoint;

CREATE TABLE webhook (
  id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  url TEXT NOT NULL,
  -- JSON object of further request headers.
  headers TEXT NOT NULL,
  allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1))
) STRICT;
INSERT INTO webhook SELECT id, url, headers, allow_private FROM recipient ORDER BY id;

CREATE TABLE new_webhook_secret (
  webhook_id TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (webhook_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO new_webhook_secret SELECT webhook_id, key, created_at, expires_at FROM webhook_secret ORDER BY webhook_id, key;
DROP TABLE webhook_secret;
ALTER TABLE new_webhook_secret RENAME TO webhook_secret;

ALTER TABLE recipient DROP COLUMN url;
ALTER TABLE recipient DROP COLUMN headers;
ALTER TABLE recipient DROP COLUMN allow_private;
-- The transport that sends to it.
ALTER TABLE recipient ADD COLUMN kind TEXT NOT NULL DEFAULT 'webhook';
CREATE INDEX recipient_by_endpoint ON recipient (endpoint_id);

ALTER TABLE outbox RENAME COLUMN webhook_id TO recipient_id;
DROP INDEX outbox_by_webhook;
CREATE INDEX outbox_by_recipient ON outbox (recipient_id, number, queued_at, message_count);

ALTER TABLE delivery RENAME COLUMN webhook_id TO recipient_id;
-- Read once for its new name: less work than the copy of the file that is kept before.
DROP INDEX delivery_by_webhook;
CREATE INDEX delivery_by_recipient ON delivery (recipient_id);
