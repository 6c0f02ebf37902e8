-- A server of an earlier version switches pages on and off and renames forms without page_place. The form then goes behind all others of its
-- name, as if a new server had done it, so that nobody takes the page of another form away meanwhile.
CREATE FUNCTION place_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.page LIKE '{"isOn":true,%' THEN
    new.page_place := 1 + coalesce((SELECT max(other.page_place) FROM endpoint AS other
      WHERE other.name = new.name AND other.page_place IS NOT NULL AND other.id <> new.id), -1);
  ELSE
    new.page_place := NULL;
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER page_comes BEFORE INSERT ON endpoint
  FOR EACH ROW WHEN (new.page_place IS NULL AND new.page IS NOT NULL) EXECUTE FUNCTION place_page();
CREATE TRIGGER page_changes BEFORE UPDATE OF name, page ON endpoint
  FOR EACH ROW WHEN (new.page_place IS NOT DISTINCT FROM old.page_place
    AND (new.name <> old.name OR coalesce(new.page LIKE '{"isOn":true,%', false) <> (new.page_place IS NOT NULL)))
  EXECUTE FUNCTION place_page();
UPDATE endpoint SET page = page WHERE coalesce(page LIKE '{"isOn":true,%', false) <> (page_place IS NOT NULL);
