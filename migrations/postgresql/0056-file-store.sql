-- ../0056-file-store.sql says more.
ALTER TABLE file ADD COLUMN object_id text COLLATE "C";

CREATE TABLE file_deletion (
  object_id text COLLATE "C" PRIMARY KEY,
  lost_at bigint NOT NULL,
  was_stored integer NOT NULL CHECK (was_stored IN (0, 1)),
  attempts integer NOT NULL DEFAULT 0,
  next_at bigint NOT NULL DEFAULT 0
);
CREATE INDEX file_deletion_by_time ON file_deletion (next_at);
CREATE FUNCTION lose_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO file_deletion (object_id, lost_at, was_stored)
    VALUES (old.object_id, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), CAST(old.state <> 'storing' AS integer))
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER file_object_goes AFTER DELETE ON file FOR EACH ROW
  WHEN (old.object_id IS NOT NULL) EXECUTE FUNCTION lose_object();
CREATE TRIGGER file_object_leaves AFTER UPDATE OF object_id ON file FOR EACH ROW
  WHEN (old.object_id IS NOT NULL AND new.object_id IS NULL) EXECUTE FUNCTION lose_object();
