-- Less to do while a post waits: its transaction writes the notification into the submission's own row and names all
-- messages to a webhook in one row of the outbox, for whoever sends to spread over `delivery` afterwards.

-- A notification is head, the submission's data, tail: rendered once, and the same for every webhook and attempt. Where
-- tail is NULL, head is the whole of it; where head is too, nothing is or was to be sent.
ALTER TABLE submission ADD COLUMN event_head TEXT;
ALTER TABLE submission ADD COLUMN event_tail TEXT;
UPDATE submission SET event_head = event.head, event_tail = event.tail
  FROM event WHERE event.submission_id = submission.id;

-- Messages that nobody has looked at yet, those of one transaction to one webhook in a row, in order of number.
CREATE TABLE outbox (
  number INTEGER PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  queued_at INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  -- JSON array of [message id, submission id].
  messages TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_by_webhook ON outbox (webhook_id, number, queued_at, message_count);

CREATE TABLE new_delivery (
  -- The message's id, which the receiver sees as webhook-id.
  id TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
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
INSERT INTO new_delivery SELECT * FROM delivery ORDER BY id;

CREATE TABLE new_attempt (
  delivery_id TEXT NOT NULL REFERENCES new_delivery ON DELETE CASCADE,
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
INSERT INTO new_attempt SELECT * FROM attempt ORDER BY delivery_id, number;

-- Whoever refers to others goes first: nothing is left that a dropped table could take along.
DROP TABLE attempt;
DROP TABLE delivery;
DROP TABLE event;
ALTER TABLE new_delivery RENAME TO delivery;
ALTER TABLE new_attempt RENAME TO attempt;

CREATE INDEX delivery_by_webhook ON delivery (webhook_id);
CREATE INDEX delivery_by_submission ON delivery (submission_id);
-- What is asked again and again goes over these, so that its cost follows the backlog and not the history.
CREATE INDEX delivery_pending ON delivery (webhook_id, due_at) WHERE state = 'pending';
CREATE INDEX delivery_sending ON delivery (id) WHERE state = 'sending';
CREATE INDEX delivery_held ON delivery (webhook_id) WHERE state = 'held';
CREATE INDEX delivery_failed ON delivery (webhook_id) WHERE state = 'failed';
CREATE INDEX delivery_delivered ON delivery (finished_at) WHERE state = 'delivered';
