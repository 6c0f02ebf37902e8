-- What people do about a submission. One that is open and nobody's needs no row, so a post writes none.
-- The number of the endpoint never changes; with it these rows are read in the order of an inbox.
CREATE TABLE submission_work (
  id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  endpoint_number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done')),
  assignee_id TEXT REFERENCES account ON DELETE SET NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submission_work_by_assignee ON submission_work (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX submission_work_by_endpoint ON submission_work (endpoint_number, id);

-- Submissions in the bin. They are still in their table, with their messages.
CREATE TABLE submission_bin (
  id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  endpoint_number INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submission_bin_by_age ON submission_bin (deleted_at);
CREATE INDEX submission_bin_by_endpoint ON submission_bin (endpoint_number, id);

CREATE TABLE submission_note (
  id TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  -- The address of the account, or the name of the token, at that time; NULL is the command line.
  author TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submission_note_by_submission ON submission_note (submission_id, id);
