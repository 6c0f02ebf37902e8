-- ../0058-brands.sql says more.
ALTER TABLE workspace ADD COLUMN brand_colour text COLLATE "C";
ALTER TABLE workspace ADD COLUMN brand_name text COLLATE "C";
ALTER TABLE workspace ADD COLUMN brand_footer text COLLATE "C";
