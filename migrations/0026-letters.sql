-- Letters of the server that must not be lost. None holds the token of a link: that of a confirmation is made when its turn has come.
CREATE TABLE letter (
  -- `msg_…`, which its Message-ID has.
  id TEXT PRIMARY KEY,
  -- `security`: somebody changed how an account signs in. `operator`: what the operator or an owner must know. `confirmation`: asks the
  -- holder of an address.
  kind TEXT NOT NULL CHECK (kind IN ('security', 'operator', 'confirmation')),
  -- What it is about. While one waits, no other of this topic is written to its address.
  topic TEXT NOT NULL,
  address TEXT NOT NULL,
  -- The recipient whose holder is asked; NULL for other kinds.
  recipient_id TEXT REFERENCES mail_recipient ON DELETE CASCADE,
  -- JSON of subject, paragraphs and link.
  content TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  -- All attempts begun, and those of them that count towards the schedule.
  attempts INTEGER NOT NULL DEFAULT 0,
  spent INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  -- The server that sends it; it goes on unless that server is lost. NULL when none has begun.
  claimed_by TEXT,
  -- JSON of the last attempt that ended; NULL before it.
  last_attempt TEXT,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX letter_pending ON letter (due_at) WHERE state = 'pending';
CREATE UNIQUE INDEX letter_waiting ON letter (address, topic) WHERE state = 'pending';
CREATE INDEX letter_by_recipient ON letter (recipient_id) WHERE recipient_id IS NOT NULL;
CREATE INDEX letter_by_address ON letter (address, id);
CREATE INDEX letter_finished ON letter (finished_at) WHERE finished_at IS NOT NULL;
