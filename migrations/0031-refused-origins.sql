-- Pages whose posts were refused because their origin is not allowed, up to 20 an endpoint.
CREATE TABLE refused_origin (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  origin TEXT NOT NULL,
  posts INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- Whether the owner said that it is none of theirs: its posts are not held any more.
  ignored INTEGER NOT NULL DEFAULT 0 CHECK (ignored IN (0, 1)),
  PRIMARY KEY (endpoint_id, origin)
) STRICT, WITHOUT ROWID;
