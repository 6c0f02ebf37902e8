-- ../0047-imported-rows.sql says more.
ALTER TABLE submission ADD COLUMN imported_from text COLLATE "C";
CREATE TABLE imported_row (
  endpoint_id text COLLATE "C" NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  row_hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (endpoint_id, row_hash)
);
