-- Recipients by e-mail, and what the outbox needs for them.

-- Address and settings of a recipient that is reached by e-mail.
CREATE TABLE mail_recipient (
  id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  address TEXT NOT NULL,
  -- With {endpoint} and {name of a field}; NULL is the built-in subject.
  subject TEXT,
  -- `each` submission in an e-mail of its own, or those of an hour or a day in one.
  digest TEXT NOT NULL CHECK (digest IN ('each', 'hourly', 'daily')),
  -- SHA-256 of the token in the e-mail that asks for a confirmation, and until when it works; NULL when none is open.
  confirmation_hash BLOB,
  confirmation_expires_at INTEGER,
  -- In every e-mail: who has it may end these e-mails, and nothing else.
  unsubscribe_token TEXT NOT NULL,
  unsubscribed_at INTEGER
) STRICT, WITHOUT ROWID;

-- NULL until its address is confirmed: nothing is queued for it before.
ALTER TABLE recipient ADD COLUMN confirmed_at INTEGER;
UPDATE recipient SET confirmed_at = created_at;
-- Messages in a row that it refused for good.
ALTER TABLE recipient ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;

-- The message that this one is sent with, in a summary; both have the same state. NULL when it goes alone or is the first.
ALTER TABLE delivery ADD COLUMN lead_id TEXT REFERENCES delivery ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
DROP INDEX delivery_pending;
CREATE INDEX delivery_pending ON delivery (recipient_id, lead_id, due_at) WHERE state = 'pending';
CREATE INDEX delivery_members ON delivery (lead_id) WHERE lead_id IS NOT NULL;

-- How much a recipient got lately, if its transport limits that. A recipient that got nothing yet has no row.
CREATE TABLE recipient_pace (
  recipient_id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  -- The short window and the hour: when each began, and the messages begun in it.
  window_at INTEGER NOT NULL,
  window_sent INTEGER NOT NULL,
  hour_at INTEGER NOT NULL,
  hour_sent INTEGER NOT NULL,
  -- Until then messages are gathered for a summary; NULL when each goes at once.
  gathers_until INTEGER
) STRICT, WITHOUT ROWID;

-- Places that fail at present, like a mail server: all recipients there wait. For people; the server starts without any.
CREATE TABLE place_fault (
  kind TEXT NOT NULL,
  place TEXT NOT NULL,
  since INTEGER NOT NULL,
  message TEXT NOT NULL,
  next_probe_at INTEGER NOT NULL,
  PRIMARY KEY (kind, place)
) STRICT, WITHOUT ROWID;
