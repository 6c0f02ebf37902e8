-- Servers of an earlier version that run beside an upgraded one read and write this table: without it their pages of forms fail. The one before
-- put `page_fault` in its place, and no program reads this one any more.
CREATE TABLE ignored_redirect (
  endpoint_id text COLLATE "C" PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
  origin text COLLATE "C" NOT NULL,
  seen_at bigint NOT NULL
);
