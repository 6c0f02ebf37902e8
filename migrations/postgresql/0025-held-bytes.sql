-- Held posts are bounded in bytes too, and may be held because their page's origin is not allowed. Triggers count the bytes.
ALTER TABLE held DROP CONSTRAINT held_why_check;
ALTER TABLE held ADD CONSTRAINT held_why_check CHECK (why IN ('spam', 'limit', 'origin'));
ALTER TABLE held ADD COLUMN origin text COLLATE "C";
ALTER TABLE held ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE held SET bytes =
  octet_length(id) + octet_length(data) + octet_length(spam_reasons) + octet_length(ip_address) + octet_length(user_agent);
CREATE INDEX held_of_origins ON held (workspace_id, id) WHERE why = 'origin';
CREATE INDEX held_of_origins_by_endpoint ON held (endpoint_id, id) WHERE why = 'origin';

ALTER TABLE held_total ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE held_total SET bytes =
  coalesce((SELECT sum(held.bytes) FROM held WHERE held.workspace_id = held_total.workspace_id), 0);

CREATE OR REPLACE FUNCTION count_held_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO held_total AS known (workspace_id, posts, bytes) VALUES (new.workspace_id, 1, new.bytes)
    ON CONFLICT (workspace_id) DO UPDATE SET posts = known.posts + 1, bytes = known.bytes + excluded.bytes;
  INSERT INTO held_network AS known (workspace_id, network, posts, first_trapped, first_id)
    VALUES (new.workspace_id, new.network, 1, new.trapped, new.id)
    ON CONFLICT (workspace_id, network) DO UPDATE SET posts = known.posts + 1,
      first_id = CASE WHEN (-excluded.first_trapped, excluded.first_id) < (-known.first_trapped, known.first_id)
        THEN excluded.first_id ELSE known.first_id END,
      first_trapped = greatest(known.first_trapped, excluded.first_trapped);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION discount_held_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE held_total SET posts = posts - 1, bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
  DELETE FROM held_network AS known
    WHERE known.workspace_id = old.workspace_id AND known.network = old.network AND NOT EXISTS
      (SELECT 1 FROM held WHERE held.workspace_id = old.workspace_id AND held.network = old.network);
  UPDATE held_network AS known SET posts = known.posts - 1, (first_trapped, first_id) =
      (SELECT held.trapped, held.id FROM held
        WHERE held.workspace_id = old.workspace_id AND held.network = old.network
        ORDER BY held.trapped DESC, held.id LIMIT 1)
    WHERE known.workspace_id = old.workspace_id AND known.network = old.network;
  RETURN NULL;
END $$;

-- Servers of the version before, which go on meanwhile, do not say how many bytes a post has.
CREATE FUNCTION size_held_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.bytes := octet_length(new.id) + octet_length(new.data) + octet_length(new.spam_reasons)
    + octet_length(new.ip_address) + octet_length(new.user_agent);
  RETURN new;
END $$;
CREATE TRIGGER held_sized BEFORE INSERT ON held FOR EACH ROW WHEN (new.bytes = 0) EXECUTE FUNCTION size_held_post();

-- Deletes held posts of a workspace until it has no more than these posts and bytes, one after the other, because each changes
-- which one goes next. NULL is unlimited. Gives why each was held. The first statement locks the counts.
CREATE FUNCTION evict_held(of_workspace text, most_posts bigint, most_bytes bigint, most_evicted integer, at_time bigint)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  now_posts bigint;
  now_bytes bigint;
  gone record;
  gone_posts integer := 0;
BEGIN
  SELECT posts, bytes INTO now_posts, now_bytes FROM held_total WHERE workspace_id = of_workspace FOR UPDATE;
  WHILE (now_posts > most_posts OR now_bytes > most_bytes) AND gone_posts < most_evicted LOOP
    DELETE FROM held WHERE id = coalesce(
      (SELECT id FROM held WHERE workspace_id = of_workspace AND why = 'origin' ORDER BY id LIMIT 1),
      (SELECT first_id FROM held_network WHERE workspace_id = of_workspace
        ORDER BY posts DESC, first_trapped DESC, first_id LIMIT 1)
    ) RETURNING why, bytes INTO gone;
    EXIT WHEN NOT FOUND;
    now_posts := now_posts - 1;
    now_bytes := now_bytes - gone.bytes;
    gone_posts := gone_posts + 1;
    RETURN NEXT gone.why;
  END LOOP;
  IF gone_posts > 0 THEN
    UPDATE held_total SET evicted = evicted + gone_posts, evicted_at = at_time WHERE workspace_id = of_workspace;
  END IF;
END $$;
