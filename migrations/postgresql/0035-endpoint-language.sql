-- ../0035-endpoint-language.sql says what it is for.
ALTER TABLE endpoint ADD COLUMN language text COLLATE "C";
