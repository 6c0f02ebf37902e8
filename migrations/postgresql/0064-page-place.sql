-- ../0064-page-place.sql says more.
ALTER TABLE endpoint ADD COLUMN page_place bigint;
UPDATE endpoint SET page_place = 0 WHERE page LIKE '{"isOn":true,%';
CREATE INDEX endpoint_by_page ON endpoint (name, page_place, id) WHERE page_place IS NOT NULL;
