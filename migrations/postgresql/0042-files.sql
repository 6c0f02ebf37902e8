-- ../0042-files.sql says more.
CREATE TABLE file (
  id text COLLATE "C" PRIMARY KEY,
  endpoint_id text COLLATE "C" NOT NULL,
  submission_id text COLLATE "C" REFERENCES submission (id) ON DELETE SET NULL,
  held_id text COLLATE "C" REFERENCES held (id) ON DELETE SET NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('storing', 'stored')),
  name text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX file_by_submission ON file (submission_id) WHERE submission_id IS NOT NULL;
CREATE INDEX file_by_held ON file (held_id) WHERE held_id IS NOT NULL;
CREATE INDEX file_by_endpoint ON file (endpoint_id, id);
CREATE INDEX file_without_owner ON file (state, created_at) WHERE submission_id IS NULL AND held_id IS NULL;

CREATE TABLE file_chunk (
  file_id text COLLATE "C" NOT NULL REFERENCES file (id),
  position integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (file_id, position)
);
-- Most files are compressed already, and a chunk is read whole.
ALTER TABLE file_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE file_total (
  endpoint_id text COLLATE "C" PRIMARY KEY,
  files bigint NOT NULL,
  bytes bigint NOT NULL
);
CREATE FUNCTION count_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file_total AS known (endpoint_id, files, bytes) VALUES (new.endpoint_id, 1, new.size)
    ON CONFLICT (endpoint_id) DO UPDATE SET files = known.files + 1, bytes = known.bytes + excluded.bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER file_comes AFTER INSERT ON file FOR EACH ROW EXECUTE FUNCTION count_file();
CREATE FUNCTION discount_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE file_total SET files = files - 1, bytes = bytes - old.size WHERE endpoint_id = old.endpoint_id;
  DELETE FROM file_total WHERE endpoint_id = old.endpoint_id AND files = 0;
  RETURN NULL;
END $$;
CREATE TRIGGER file_goes AFTER DELETE ON file FOR EACH ROW EXECUTE FUNCTION discount_file();
