-- The place of a form in the line of those whose own page is on under this name: the first one is found at /p/ and the name. It is given when the
-- page is switched on and when the form gets another name, behind all others. NULL means that the page is off.
ALTER TABLE endpoint ADD COLUMN page_place INTEGER;
UPDATE endpoint SET page_place = 0 WHERE page LIKE '{"isOn":true,%';
CREATE INDEX endpoint_by_page ON endpoint (name, page_place, id) WHERE page_place IS NOT NULL;
