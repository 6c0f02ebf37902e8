-- Where a request came from last that looked as if a proxy had passed it on, though server.trustProxy does not name it:
-- doctor is another process than the server that sees it.
CREATE TABLE untrusted_proxy (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  address TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
