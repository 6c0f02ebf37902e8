-- Several servers share a database.

-- One row for each server that runs. It says every second that it is alive; ten seconds later it counts as lost.
-- Times are the database's own clock, so that no server's clock decides who is alive.
CREATE TABLE live_server (
  id text COLLATE "C" PRIMARY KEY,
  program text COLLATE "C" NOT NULL,
  -- The number of the last migration that the program has.
  schema_version integer NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL
) WITH (fillfactor = 50);

-- The server that sends it. It means something only while the delivery is in the state 'sending'.
ALTER TABLE delivery ADD COLUMN claimed_by text COLLATE "C";

-- What all servers together counted in a window of a rate limit. A crash of PostgreSQL empties it, as a restart of a
-- server empties what that server counted. Times are the database's own clock.
CREATE UNLOGGED TABLE rate_window (
  unit text COLLATE "C" PRIMARY KEY,
  used bigint NOT NULL,
  ends_at bigint NOT NULL,
  changed_at bigint NOT NULL
);
-- Each server reads what changed since it read before.
CREATE INDEX rate_window_by_change ON rate_window (changed_at);
