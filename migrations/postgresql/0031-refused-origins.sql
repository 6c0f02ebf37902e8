-- Pages whose posts were refused because their origin is not allowed, up to 20 an endpoint.
CREATE TABLE refused_origin (
  endpoint_id text COLLATE "C" NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  origin text COLLATE "C" NOT NULL,
  posts bigint NOT NULL,
  last_at bigint NOT NULL,
  ignored smallint NOT NULL DEFAULT 0 CHECK (ignored IN (0, 1)),
  PRIMARY KEY (endpoint_id, origin)
);
