-- Files that a virus scanner has not judged. One that it found clean has no row here; of one with a virus only its facts are left, in the
-- data of its submission.
CREATE TABLE file_scan (
  file_id TEXT PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  -- Nobody may read a file that is `scanning`. It could not be scanned in time if it is `kept`, which may be read, or `refused`.
  state TEXT NOT NULL CHECK (state IN ('scanning', 'kept', 'refused')),
  -- Until then it is `scanning`.
  wait_until INTEGER NOT NULL,
  -- Scans that ended without a verdict, for a reason that may lie in the file.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- When it is to be scanned. Whoever scans it moves it ahead meanwhile, so that it is due again if that process ends. NULL is never.
  due_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX file_scan_due ON file_scan (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX file_scan_waiting ON file_scan (wait_until) WHERE state = 'scanning';

-- Submissions whose messages wait until their files are judged, or until a time.
CREATE TABLE scan_wait (
  submission_id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX scan_wait_by_time ON scan_wait (until);
