-- The newest submissions of which something was set aside are found without reading the others.
CREATE INDEX submission_set_aside ON submission (endpoint_number, id) WHERE unknown_fields IS NOT NULL;

-- The last page after success that a form named and nobody was led to.
CREATE TABLE ignored_redirect (
  endpoint_id TEXT PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
  -- Its origin; empty if it was no address of the web.
  origin TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
