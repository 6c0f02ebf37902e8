-- What a page with a form does wrong, as its posts show: the last time of each kind. It takes the place of `ignored_redirect`.
CREATE TABLE page_fault (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  -- `redirect`: it names a page after success to which nobody is led. `file_name`: it sends the name in place of the file.
  kind TEXT NOT NULL CHECK (kind IN ('redirect', 'file_name')),
  -- The origin of that page, empty if it was no address of the web; or the field that should have had a file.
  what TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO page_fault SELECT endpoint_id, 'redirect', origin, seen_at FROM ignored_redirect;
DROP TABLE ignored_redirect;
