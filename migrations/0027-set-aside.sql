-- What was sent beyond a form's schema is kept beside the data if the endpoint says so. Endpoints keep what they have; new ones are
-- made with a setting of their own. A CHECK cannot be changed, so the column is made anew.
ALTER TABLE endpoint ADD COLUMN unknown_members TEXT NOT NULL DEFAULT 'drop'
  CHECK (unknown_members IN ('set-aside', 'drop', 'keep', 'reject'));
UPDATE endpoint SET unknown_members = unknown_fields;
ALTER TABLE endpoint DROP COLUMN unknown_fields;
ALTER TABLE endpoint RENAME COLUMN unknown_members TO unknown_fields;
-- JSON object of such values by their path, and how many had no room. NULL where nothing was set aside.
ALTER TABLE submission ADD COLUMN unknown_fields TEXT;
ALTER TABLE submission ADD COLUMN unknown_fields_dropped INTEGER;
ALTER TABLE held ADD COLUMN unknown_fields TEXT;
ALTER TABLE held ADD COLUMN unknown_fields_dropped INTEGER;
