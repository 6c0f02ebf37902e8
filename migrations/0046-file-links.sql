-- The key that signs the addresses of files. It is made when the first address is.
CREATE TABLE file_link_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes, sealed or plain.
  key BLOB NOT NULL
) STRICT;

-- The whole message, if it is not that of its submission: one that is sent again as a new one has new addresses of files.
ALTER TABLE delivery ADD COLUMN event TEXT;
