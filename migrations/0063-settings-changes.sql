-- What the last changes of settings were about, so that a server drops only that from its memory. The number of the change is that of
-- settings_version after it, and a slot is that number modulo 1000: an older change gives its row to a newer one.
CREATE TABLE settings_change (
  slot INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  -- The id of an endpoint or a workspace, or a word of settings-version.ts.
  subject TEXT NOT NULL
) STRICT;
