-- Files of submissions. A file belongs to a submission or to a held post. One that belongs to none any more is deleted by a clean-up, in
-- short transactions: a submission may have 25 MiB of them. While it is `storing`, its chunks come with the commits of other posts.
CREATE TABLE file (
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  submission_id TEXT REFERENCES submission (id) ON DELETE SET NULL,
  held_id TEXT REFERENCES held (id) ON DELETE SET NULL,
  state TEXT NOT NULL CHECK (state IN ('storing', 'stored')),
  name TEXT NOT NULL,
  -- In bytes.
  size INTEGER NOT NULL,
  -- The media type that its content has.
  type TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX file_by_submission ON file (submission_id) WHERE submission_id IS NOT NULL;
CREATE INDEX file_by_held ON file (held_id) WHERE held_id IS NOT NULL;
CREATE INDEX file_by_endpoint ON file (endpoint_id, id);
CREATE INDEX file_without_owner ON file (state, created_at) WHERE submission_id IS NULL AND held_id IS NULL;

-- The bytes of files, 262144 a row; the last row of a file has the rest.
CREATE TABLE file_chunk (
  file_id TEXT NOT NULL REFERENCES file (id),
  -- From 0 on.
  position INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (file_id, position)
) STRICT;

-- How many files an endpoint has, and their bytes, counted by triggers. An endpoint without files has no row.
CREATE TABLE file_total (
  endpoint_id TEXT PRIMARY KEY,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER file_comes AFTER INSERT ON file BEGIN
  INSERT INTO file_total (endpoint_id, files, bytes) VALUES (new.endpoint_id, 1, new.size)
    ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER file_goes AFTER DELETE ON file BEGIN
  UPDATE file_total SET files = files - 1, bytes = bytes - old.size WHERE endpoint_id = old.endpoint_id;
  DELETE FROM file_total WHERE endpoint_id = old.endpoint_id AND files = 0;
END;
