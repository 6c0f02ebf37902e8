-- Which owners were told in which month that their workspace comes near its monthly limit, has reached it, and holds a first post for it.
CREATE TABLE limit_notice (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  month TEXT NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('near', 'full', 'held')),
  told_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, month, what)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_for_limit ON held (workspace_id, created_at) WHERE why = 'limit';
