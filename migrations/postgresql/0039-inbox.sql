-- ../0039-inbox.sql says more.
CREATE TABLE submission_work (
  id text COLLATE "C" PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  endpoint_number integer NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'done')),
  assignee_id text COLLATE "C" REFERENCES account ON DELETE SET NULL
);
CREATE INDEX submission_work_by_assignee ON submission_work (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX submission_work_by_endpoint ON submission_work (endpoint_number, id);

CREATE TABLE submission_bin (
  id text COLLATE "C" PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  endpoint_number integer NOT NULL,
  deleted_at bigint NOT NULL
);
CREATE INDEX submission_bin_by_age ON submission_bin (deleted_at);
CREATE INDEX submission_bin_by_endpoint ON submission_bin (endpoint_number, id);

CREATE TABLE submission_note (
  id text COLLATE "C" PRIMARY KEY,
  submission_id text COLLATE "C" NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  text text COLLATE "C" NOT NULL,
  author text COLLATE "C",
  created_at bigint NOT NULL
);
CREATE INDEX submission_note_by_submission ON submission_note (submission_id, id);
