-- The language in which whoever posted is answered, if the post named one. It goes with its submission.
CREATE TABLE reply_language (
  submission_id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  language TEXT NOT NULL
) STRICT, WITHOUT ROWID;
