-- Held posts keep their files, within a bound of bytes of their workspace. A copy may have been made without the bytes of files.
ALTER TABLE file ADD COLUMN for_held INTEGER NOT NULL DEFAULT 0 CHECK (for_held IN (0, 1));
CREATE INDEX file_for_held ON file (endpoint_id, size) WHERE for_held = 1;
ALTER TABLE file ADD COLUMN is_left_out INTEGER NOT NULL DEFAULT 0 CHECK (is_left_out IN (0, 1));
