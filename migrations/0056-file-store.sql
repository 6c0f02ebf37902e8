-- Files may lie as objects in an S3-compatible store. NULL is a file whose bytes are in file_chunk.
ALTER TABLE file ADD COLUMN object_id TEXT;

-- Objects whose file is gone. Each stays here until the store has deleted it, whatever ended the file.
CREATE TABLE file_deletion (
  object_id TEXT PRIMARY KEY,
  lost_at INTEGER NOT NULL,
  -- 0 if its post was cut off: the store may still be receiving it, so it is deleted once more after an hour.
  was_stored INTEGER NOT NULL CHECK (was_stored IN (0, 1)),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX file_deletion_by_time ON file_deletion (next_at);
CREATE TRIGGER file_object_goes AFTER DELETE ON file WHEN old.object_id IS NOT NULL BEGIN
  INSERT INTO file_deletion (object_id, lost_at, was_stored)
    VALUES (old.object_id, CAST(unixepoch('subsec') * 1000 AS INTEGER), old.state <> 'storing') ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER file_object_leaves AFTER UPDATE OF object_id ON file
  WHEN old.object_id IS NOT NULL AND new.object_id IS NULL BEGIN
  INSERT INTO file_deletion (object_id, lost_at, was_stored)
    VALUES (old.object_id, CAST(unixepoch('subsec') * 1000 AS INTEGER), old.state <> 'storing') ON CONFLICT DO NOTHING;
END;
