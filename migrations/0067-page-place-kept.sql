-- Only forms whose own page is on have a place in the line. On PostgreSQL, where servers of an earlier version may write after the migration
-- 0064, triggers see to it from now on; a file has one server.
UPDATE endpoint SET page_place = NULL WHERE page_place IS NOT NULL AND (page IS NULL OR page NOT LIKE '{"isOn":true,%');
UPDATE endpoint SET page_place = 1 + coalesce((SELECT max(other.page_place) FROM endpoint AS other
    WHERE other.name = endpoint.name AND other.page_place IS NOT NULL), -1)
  WHERE page_place IS NULL AND page LIKE '{"isOn":true,%';
