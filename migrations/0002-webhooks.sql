CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  url TEXT NOT NULL,
  -- JSON object of further request headers.
  headers TEXT NOT NULL,
  allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
  max_spam_score INTEGER NOT NULL CHECK (max_spam_score BETWEEN 0 AND 100),
  -- `stopped`: the receiver said twice that it is gone.
  state TEXT NOT NULL CHECK (state IN ('enabled', 'disabled', 'stopped')),
  -- How the receiver is doing: what breaker.ts calls its health.
  breaker TEXT NOT NULL CHECK (breaker IN ('closed', 'open', 'ramping')),
  breaker_count INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  -- The first 410 since the last success, and the first failure since then.
  gone_at INTEGER,
  failing_since INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_by_endpoint ON webhook (endpoint_id);

-- The newest signs first; one with an end signs until then.
CREATE TABLE webhook_secret (
  webhook_id TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (webhook_id, key)
) STRICT, WITHOUT ROWID;

-- A submission's notification, rendered once: every webhook and every attempt sends these bytes.
CREATE TABLE event (
  submission_id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE delivery (
  -- The message's id, which the receiver sees as webhook-id.
  id TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES event ON DELETE CASCADE,
  webhook_id TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'held', 'failed')),
  -- All attempts made, and those of them that count towards the schedule.
  attempts INTEGER NOT NULL DEFAULT 0,
  spent INTEGER NOT NULL DEFAULT 0,
  -- Attempts in a row that this program did not live to see the end of.
  interruptions INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  -- Of the attempt that is being made: when it began, and whether it is a probe.
  claimed_at INTEGER,
  is_probe INTEGER NOT NULL DEFAULT 0 CHECK (is_probe IN (0, 1)),
  finished_at INTEGER,
  last_status INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_by_webhook ON delivery (webhook_id);
CREATE INDEX delivery_by_submission ON delivery (submission_id);
-- What the outbox asks again and again goes over these, so that its cost follows the backlog and not the history.
CREATE INDEX delivery_pending ON delivery (webhook_id, due_at) WHERE state = 'pending';
CREATE INDEX delivery_sending ON delivery (id) WHERE state = 'sending';
CREATE INDEX delivery_held ON delivery (webhook_id) WHERE state = 'held';
CREATE INDEX delivery_failed ON delivery (webhook_id) WHERE state = 'failed';
CREATE INDEX delivery_delivered ON delivery (finished_at) WHERE state = 'delivered';

CREATE TABLE attempt (
  delivery_id TEXT NOT NULL REFERENCES delivery ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  -- For people; NULL where the attempt delivered.
  message TEXT,
  -- The first KiB of what a failing receiver answered.
  answer TEXT,
  is_probe INTEGER NOT NULL CHECK (is_probe IN (0, 1)),
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;
