-- ../0059-page-faults.sql says what it is for.
CREATE TABLE page_fault (
  endpoint_id text COLLATE "C" NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('redirect', 'file_name')),
  what text COLLATE "C" NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (endpoint_id, kind)
);
INSERT INTO page_fault SELECT endpoint_id, 'redirect', origin, seen_at FROM ignored_redirect;
DROP TABLE ignored_redirect;
