-- The clock as the clean-ups saw it last. ../0066-clock-seen.sql says what each column means.
CREATE TABLE clock_seen (
  id bigint PRIMARY KEY CHECK (id = 1),
  seen_at bigint NOT NULL,
  doubted_at bigint,
  waited_ms bigint NOT NULL
);
