-- ../0057-scans.sql says more.
CREATE TABLE file_scan (
  file_id text COLLATE "C" PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  state text COLLATE "C" NOT NULL CHECK (state IN ('scanning', 'kept', 'refused')),
  wait_until bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at bigint
);
CREATE INDEX file_scan_due ON file_scan (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX file_scan_waiting ON file_scan (wait_until) WHERE state = 'scanning';

CREATE TABLE scan_wait (
  submission_id text COLLATE "C" PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  until bigint NOT NULL
);
CREATE INDEX scan_wait_by_time ON scan_wait (until);
