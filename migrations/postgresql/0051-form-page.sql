-- ../0051-form-page.sql says more.
ALTER TABLE endpoint ADD COLUMN page text COLLATE "C";
CREATE INDEX endpoint_by_name ON endpoint (name);
