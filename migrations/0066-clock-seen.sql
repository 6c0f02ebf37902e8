-- The clock as the clean-ups saw it last, so that they delete nothing by a clock that went far ahead at once. One row, written each hour.
CREATE TABLE clock_seen (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at INTEGER NOT NULL,
  -- What the clock showed when it was first doubted; NULL if it is trusted.
  doubted_at INTEGER,
  -- How long a server has run since then.
  waited_ms INTEGER NOT NULL
) STRICT;
