-- What owners chose about spam, as JSON in the form of the settings file.
CREATE TABLE workspace_spam (
  workspace_id TEXT PRIMARY KEY REFERENCES workspace ON DELETE CASCADE,
  choices TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE endpoint_spam (
  endpoint_id TEXT PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
  choices TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Texts with anything odd about them that a workspace received, as sketches that cannot be turned back, to know copies
-- from other senders by.
CREATE TABLE remembered_text (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  -- JSON array of the keys it is looked up by, the one of its very words first.
  keys TEXT NOT NULL,
  -- MinHash values of 32 bits, little end first; none for short texts.
  sketch BLOB NOT NULL,
  -- JSON array of [e-mail hash, network hash], either may be null.
  senders TEXT NOT NULL,
  -- Marks that posts with this text have now; a text with any is kept.
  marked_spam INTEGER NOT NULL DEFAULT 0,
  marked_ham INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX remembered_text_by_age ON remembered_text (workspace_id, id) WHERE marked_spam = 0 AND marked_ham = 0;

-- Whoever deletes a text deletes its keys; one that is left over leads nowhere and does no harm.
CREATE TABLE remembered_text_key (
  key INTEGER NOT NULL,
  text_id INTEGER NOT NULL,
  PRIMARY KEY (key, text_id)
) STRICT, WITHOUT ROWID;

-- What each mark taught. It outlives its submission: owners delete the spam that they marked.
CREATE TABLE lesson (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  submission_id TEXT NOT NULL UNIQUE,
  mark TEXT NOT NULL CHECK (mark IN ('spam', 'ham')),
  -- Hash of the e-mail address; NULL where the post has none.
  email TEXT,
  text_id INTEGER REFERENCES remembered_text ON DELETE SET NULL,
  -- Word buckets of 16 bits, little end first, and the log-odds that the shipped model gave, in thousandths.
  buckets BLOB NOT NULL,
  odds INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_by_workspace ON lesson (workspace_id, id);
CREATE INDEX lesson_by_email ON lesson (workspace_id, email);
CREATE INDEX lesson_by_text ON lesson (text_id);

-- The weights after all lessons: 32-bit floats, little end first. The version rises with each change.
CREATE TABLE learned_weights (
  workspace_id TEXT PRIMARY KEY REFERENCES workspace ON DELETE CASCADE,
  version INTEGER NOT NULL,
  weights BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Posts that were answered 429, kept for a while.
CREATE TABLE held (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  why TEXT NOT NULL CHECK (why IN ('spam', 'limit')),
  -- Whether a honeypot was filled: those go first when there are too many.
  trapped INTEGER NOT NULL CHECK (trapped IN (0, 1)),
  -- SHA-256 of the Idempotency-Key: a client that tries again is held once. NULL where it sent none.
  key_hash BLOB,
  schema_version INTEGER NOT NULL,
  data TEXT NOT NULL,
  spam_score INTEGER NOT NULL CHECK (spam_score BETWEEN 0 AND 100),
  spam_reasons TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX held_by_workspace ON held (workspace_id, trapped, id);
CREATE INDEX held_by_endpoint ON held (endpoint_id, id);
CREATE UNIQUE INDEX held_by_key ON held (endpoint_id, key_hash) WHERE key_hash IS NOT NULL;
