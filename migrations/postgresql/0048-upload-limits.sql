-- ../0048-upload-limits.sql says more.
CREATE TABLE upload_use (
  day text COLLATE "C" NOT NULL,
  unit text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (day, unit)
);

ALTER TABLE limit_notice DROP CONSTRAINT limit_notice_what_check;
ALTER TABLE limit_notice ADD CONSTRAINT limit_notice_what_check
  CHECK (what IN ('near', 'full', 'held', 'files_near', 'files_full'));
