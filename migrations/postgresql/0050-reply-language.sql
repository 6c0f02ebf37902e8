-- ../0050-reply-language.sql says what it means.
CREATE TABLE reply_language (
  submission_id text COLLATE "C" PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  language text COLLATE "C" NOT NULL
);
