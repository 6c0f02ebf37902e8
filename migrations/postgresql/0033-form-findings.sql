-- ../0033-form-findings.sql says what they are for.
CREATE INDEX submission_set_aside ON submission (endpoint_number, id) WHERE unknown_fields IS NOT NULL;

CREATE TABLE ignored_redirect (
  endpoint_id text COLLATE "C" PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
  origin text COLLATE "C" NOT NULL,
  seen_at bigint NOT NULL
);
