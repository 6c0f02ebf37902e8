-- Bytes of files that came in a day, by what a limit is for: an address (its hash), or the publishable keys of a form. Days that are over are
-- dropped by a clean-up.
CREATE TABLE upload_use (
  -- YYYY-MM-DD, UTC.
  day TEXT NOT NULL,
  unit TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (day, unit)
) STRICT, WITHOUT ROWID;

-- The room of a workspace's plan for files is told like its month. Nothing refers to this table.
CREATE TABLE new_limit_notice (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  month TEXT NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('near', 'full', 'held', 'files_near', 'files_full')),
  told_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, month, what)
) STRICT, WITHOUT ROWID;
INSERT INTO new_limit_notice SELECT * FROM limit_notice;
DROP TABLE limit_notice;
ALTER TABLE new_limit_notice RENAME TO limit_notice;
