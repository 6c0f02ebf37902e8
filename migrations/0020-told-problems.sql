-- Problems that the operator was told of by e-mail and that had not ended: a restart tells none of them again.
CREATE TABLE told_problem (
  -- What the problem is about: it stays the same while the problem lasts.
  topic TEXT PRIMARY KEY,
  -- The address that was told. Another operator is told anew.
  told_to TEXT NOT NULL,
  -- JSON of the finding.
  finding TEXT NOT NULL
) STRICT, WITHOUT ROWID;
