-- What was sent beyond a form's schema is kept beside the data if the endpoint says so. ../0027-set-aside.sql says what is in it.
ALTER TABLE endpoint DROP CONSTRAINT endpoint_unknown_fields_check;
ALTER TABLE endpoint ADD CONSTRAINT endpoint_unknown_fields_check
  CHECK (unknown_fields IN ('set-aside', 'drop', 'keep', 'reject'));
ALTER TABLE submission ADD COLUMN unknown_fields text COLLATE "C", ADD COLUMN unknown_fields_dropped bigint;
ALTER TABLE held ADD COLUMN unknown_fields text COLLATE "C", ADD COLUMN unknown_fields_dropped bigint;
