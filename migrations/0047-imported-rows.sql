-- The service whose export a submission was imported from. NULL is a post.
ALTER TABLE submission ADD COLUMN imported_from TEXT;
-- Rows that were imported, by a hash. They stay when the submission is deleted, so that it does not come back with the next import.
CREATE TABLE imported_row (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  row_hash TEXT NOT NULL,
  PRIMARY KEY (endpoint_id, row_hash)
) STRICT, WITHOUT ROWID;
