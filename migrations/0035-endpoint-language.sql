-- The language of what visitors read, if a post names none; NULL is that of their browser.
ALTER TABLE endpoint ADD COLUMN language TEXT;
