-- Less on disk for each post: submissions name their endpoint by a number, and events leave out what submissions hold.

-- AUTOINCREMENT, so that a post to a deleted endpoint is never taken for one to a newer endpoint.
CREATE TABLE endpoint_number (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id TEXT NOT NULL UNIQUE REFERENCES endpoint ON DELETE CASCADE
) STRICT;
INSERT INTO endpoint_number (endpoint_id) SELECT id FROM endpoint ORDER BY id;
CREATE TRIGGER endpoint_gets_number AFTER INSERT ON endpoint BEGIN
  INSERT INTO endpoint_number (endpoint_id) VALUES (new.id);
END;

CREATE TABLE new_submission (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint_number INTEGER NOT NULL REFERENCES endpoint_number ON DELETE CASCADE,
  schema_version INTEGER NOT NULL,
  data TEXT NOT NULL,
  spam_score INTEGER NOT NULL CHECK (spam_score BETWEEN 0 AND 100),
  spam_reasons TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO new_submission
  SELECT seq, id, (SELECT number FROM endpoint_number WHERE endpoint_number.endpoint_id = submission.endpoint_id),
    schema_version, data, spam_score, spam_reasons, ip_address, user_agent, created_at
  FROM submission ORDER BY seq;
-- The numbers of rows that were deleted stay used.
DELETE FROM sqlite_sequence WHERE name = 'new_submission';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_submission', seq FROM sqlite_sequence WHERE name = 'submission';

-- A notification is head, the submission's data, tail: rendered once, and the same for every webhook and attempt. Where
-- tail is NULL, head is the whole of it.
CREATE TABLE new_event (
  submission_id TEXT PRIMARY KEY REFERENCES new_submission (id) ON DELETE CASCADE,
  head TEXT NOT NULL,
  tail TEXT
) STRICT, WITHOUT ROWID;
-- Wherever the data stand in the body, the three parts together are the same text.
INSERT INTO new_event
  SELECT submission_id,
    iif(found = 0, body, substr(body, 1, found - 1)),
    iif(found = 0, NULL, substr(body, found + length(data)))
  FROM (
    SELECT submission_id, body, data, instr(body, data) AS found
    FROM (
      SELECT submission_id, CAST(body AS TEXT) AS body, data
      FROM event JOIN submission ON submission.id = event.submission_id
    )
  )
  ORDER BY submission_id;

CREATE TABLE new_delivery (
  -- The message's id, which the receiver sees as webhook-id.
  id TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES new_event ON DELETE CASCADE,
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
DROP TABLE submission;
ALTER TABLE new_submission RENAME TO submission;
ALTER TABLE new_event RENAME TO event;
ALTER TABLE new_delivery RENAME TO delivery;
ALTER TABLE new_attempt RENAME TO attempt;

CREATE INDEX submission_by_endpoint ON submission (endpoint_number, id);
CREATE INDEX delivery_by_webhook ON delivery (webhook_id);
CREATE INDEX delivery_by_submission ON delivery (submission_id);
-- What the outbox asks again and again goes over these, so that its cost follows the backlog and not the history.
CREATE INDEX delivery_pending ON delivery (webhook_id, due_at) WHERE state = 'pending';
CREATE INDEX delivery_sending ON delivery (id) WHERE state = 'sending';
CREATE INDEX delivery_held ON delivery (webhook_id) WHERE state = 'held';
CREATE INDEX delivery_failed ON delivery (webhook_id) WHERE state = 'failed';
CREATE INDEX delivery_delivered ON delivery (finished_at) WHERE state = 'delivered';
